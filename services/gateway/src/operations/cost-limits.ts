import type { Principal } from "@signalbox/auth";
import { AppError, minutes, seconds } from "@signalbox/core";
import { addressBucket } from "@signalbox/http";
import type { RateLimiter, RateLimitPolicy } from "@signalbox/storage";
import { type DocumentNode, GraphQLError, type OperationDefinitionNode } from "graphql";
import { countTokens } from "./document-scan.ts";
import { estimateCost, fragmentsOf } from "./operation-cost.ts";

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

export interface Charged {
  readonly principal: Principal | null;
  readonly clientAddress: string;
}

type Asked = Pick<Costed, "schema" | "operation" | "variables"> & { readonly document: DocumentNode };

export type CostLimits = ReturnType<typeof createCostLimits>;

/** Cost limits of operations, alone and together, enforced before any fetch. */
export function createCostLimits({ limiterOf, windows, costMax, pageSize }: CostLimitDependencies) {
  const ofCredentials = limiterOf({ name: "graphql-cost", limit: windows.credential, windowMs: seconds(10) });
  const ofAddresses = limiterOf({ name: "graphql-cost-anonymous", limit: windows.anonymous, windowMs: minutes(1) });

  return {
    estimate: (asked: Asked): number => estimateOnce(asked, pageSize(), costMax() ?? introspectedMax),
    /** Returns the refusal of an operation over the limit; null for an allowed one. */
    refusal(cost: number): GraphQLError | null {
      const max = costMax();
      if (max === null || cost <= max) return null;
      const message = `This operation costs at least ${cost}, over the limit of ${max}. Ask for shorter pages or fewer fields.`;
      return new GraphQLError(message, { extensions: { code: "LIMIT_COST" } });
    },
    /** Charges an operation before it runs. @throws AppError `rate_limited` */
    charge(caller: Charged, cost: number): void {
      if (costMax() === null) return;
      const taken = take(caller, cost);
      if (!taken.allowed) throw tooMuch(taken);
    },
    /** Judges before a document is even parsed. @throws AppError `rate_limited` when the caller's window is used up */
    admit(caller: Charged): void {
      if (costMax() === null) return;
      const now = take(caller, 0);
      if (now.remaining < 1) throw tooMuch(now);
    },
    /**
     * Charges a refused document for the work of its check. The work is done, so what the window lacks uses it up: the
     * next document of this caller waits.
     */
    chargeRefused(caller: Charged, query: string): void {
      if (costMax() === null) return;
      const cost = Math.max(1, countTokens(query, refusedTokensMax));
      take(caller, Math.min(cost, take(caller, 0).remaining));
    },
  };

  function take({ principal, clientAddress }: Charged, cost: number) {
    return principal
      ? ofCredentials.take(principal.credential.id, cost)
      : ofAddresses.take(addressBucket(clientAddress), cost);
  }
}

const tooMuch = ({ resetSeconds }: { readonly resetSeconds: number }) =>
  new AppError("rate_limited", "The operations of this caller cost too much together. Try again later.", {
    retryAfterSeconds: resetSeconds,
  });

/** Introspection is counted up to this number of objects where no limit applies. */
const introspectedMax = 100_000;
/** A check reads no more of a document than the limit of tokens, which is at most this. */
const refusedTokensMax = 100_000;

/** The estimated cost of an operation with its lengths. */
interface Estimates {
  readonly variables: readonly string[];
  readonly byLengths: Map<string, number>;
}

const estimates = new WeakMap<OperationDefinitionNode, Estimates>();
const lengthsMax = 64;

/** Caches estimates with their documents. */
function estimateOnce({ schema, document, operation, variables }: Asked, pageSize: number, objectsMax: number): number {
  const known = estimates.get(operation);
  const key = known && [pageSize, objectsMax, ...known.variables.map((name) => variables[name])].join();
  const cost = known?.byLengths.get(key ?? "");
  if (cost !== undefined) return cost;
  const fragments = fragmentsOf(document);
  const lengths = new Set<string>();
  const onLength = (variable: string) => lengths.add(variable);
  const estimated = estimateCost({ schema, fragments, operation, variables, pageSize, objectsMax, onLength });
  const byLengths = known && known.byLengths.size < lengthsMax ? known.byLengths : new Map<string, number>();
  const names = known?.variables ?? [...lengths];
  byLengths.set([pageSize, objectsMax, ...names.map((name) => variables[name])].join(), estimated);
  estimates.set(operation, { variables: names, byLengths });
  return estimated;
}
