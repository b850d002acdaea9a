import type { Principal } from "@signalbox/auth";
import type { RateLimiter, RateLimitPolicy } from "@signalbox/cache";
import { AppError, minutes, seconds } from "@signalbox/core";
import { addressBucket } from "@signalbox/http";
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
} from "graphql";
import { estimateCost } from "./operation-cost.ts";

type Costed = Parameters<typeof estimateCost>[0];

interface CostLimitDependencies {
  readonly limiterOf: (policy: RateLimitPolicy) => RateLimiter;
  /** Cost limits of a credential in ten seconds, and of an address without one in a minute. */
  readonly windows: { readonly credential: number; readonly anonymous: number };
  /** Cost limit of one operation. Null only measures. */
  readonly costMax: () => number | null;
  /** Assumed length of a page without an explicit one. */
  readonly pageSize: () => number;
}

interface Asking {
  readonly principal: Principal | null;
  readonly clientAddress: string;
}

type Asked = Pick<Costed, "schema" | "operation" | "variables"> & { readonly document: DocumentNode };

/** Cost limits of operations, alone and together, enforced before any fetch. */
export function createCostLimits({ limiterOf, windows, costMax, pageSize }: CostLimitDependencies) {
  const ofCredentials = limiterOf({ name: "graphql-cost", limit: windows.credential, windowMs: seconds(10) });
  const ofAddresses = limiterOf({ name: "graphql-cost-anonymous", limit: windows.anonymous, windowMs: minutes(1) });

  return {
    estimate: (asked: Asked): number => estimateOnce(asked, pageSize()),
    /** Returns the refusal of an operation over the limit; null for an allowed one. */
    refusal(cost: number): GraphQLError | null {
      const max = costMax();
      if (max === null || cost <= max) return null;
      const message = `This operation costs ${cost}, over the limit of ${max}. Ask for shorter pages or fewer fields.`;
      return new GraphQLError(message, { extensions: { code: "LIMIT_COST" } });
    },
    /** Charges an operation before it runs. @throws AppError `rate_limited` */
    charge({ principal, clientAddress }: Asking, cost: number): void {
      if (costMax() === null) return;
      const taken = principal
        ? ofCredentials.take(principal.credential.id, cost)
        : ofAddresses.take(addressBucket(clientAddress), cost);
      if (taken.allowed) return;
      throw new AppError("rate_limited", "The operations of this caller cost too much together. Try again later.", {
        retryAfterSeconds: taken.resetSeconds,
      });
    },
  };
}

/** The estimated cost of an operation with its lengths. */
interface Estimates {
  readonly variables: readonly string[];
  readonly byLengths: Map<string, number>;
}

const estimates = new WeakMap<OperationDefinitionNode, Estimates>();
const lengthsMax = 64;

/** Caches estimates with their documents. */
function estimateOnce({ schema, document, operation, variables }: Asked, pageSize: number): number {
  const known = estimates.get(operation);
  const key = known && [pageSize, ...known.variables.map((name) => variables[name])].join();
  const cost = known?.byLengths.get(key ?? "");
  if (cost !== undefined) return cost;
  const definitions = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  const fragments = new Map((definitions as FragmentDefinitionNode[]).map((node) => [node.name.value, node]));
  const lengths = new Set<string>();
  const onLength = (variable: string) => lengths.add(variable);
  const estimated = estimateCost({ schema, fragments, operation, variables, pageSize, onLength });
  const byLengths = known && known.byLengths.size < lengthsMax ? known.byLengths : new Map<string, number>();
  const names = known?.variables ?? [...lengths];
  byLengths.set([pageSize, ...names.map((name) => variables[name])].join(), estimated);
  estimates.set(operation, { variables: names, byLengths });
  return estimated;
}
