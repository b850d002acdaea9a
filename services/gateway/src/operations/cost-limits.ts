import type { Principal } from "@signalbox/auth";
import { AppError, minutes, seconds } from "@signalbox/core";
import { addressBucket } from "@signalbox/http";
import type { RateLimiter, RateLimitPolicy } from "@signalbox/storage";
import type { DocumentNode, GraphQLError, GraphQLSchema, OperationDefinitionNode } from "graphql";
import { graphError } from "../documents/graph-error.ts";
import { countTokens } from "./document-scan.ts";
import { estimateCost, fragmentsOf } from "./operation-cost.ts";

/** An operation with its coerced variables. */
export interface ChosenOperation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

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

export type CostLimits = ReturnType<typeof createCostLimits>;

/** Cost limits of operations, alone and together, enforced before any fetch. */
export function createCostLimits({ limiterOf, windows, costMax, pageSize }: CostLimitDependencies) {
  const ofCredentials = limiterOf({ name: "graphql-cost", limit: windows.credential, windowMs: seconds(10) });
  const ofAddresses = limiterOf({ name: "graphql-cost-anonymous", limit: windows.anonymous, windowMs: minutes(1) });

  return {
    estimate: (schema: GraphQLSchema, chosen: ChosenOperation): number =>
      estimateOnce(schema, chosen, pageSize(), costMax() ?? introspectedMax),
    /** Returns the refusal of an operation over the limit; null for an allowed one. */
    refusal(cost: number): GraphQLError | null {
      const max = costMax();
      if (max === null || cost <= max) return null;
      const message = `This operation costs at least ${cost}, over the limit of ${max}. Request shorter pages or fewer fields.`;
      return graphError("LIMIT_COST", message);
    },
    /** Charges an operation before it runs. @throws AppError `rate_limited` */
    charge(caller: Charged, cost: number): void {
      if (costMax() === null) return;
      const taken = take(caller, cost);
      if (!taken.allowed) throw tooMuch(taken);
    },
    /**
     * Corrects a charged estimate by the objects that were sent: what was not needed is given back, and what was sent
     * above it is charged. What the window lacks uses it up: the next operation of this caller waits.
     */
    correct(caller: Charged, { estimated, actual }: { readonly estimated: number; readonly actual: number }): void {
      if (costMax() === null) return;
      if (actual > estimated) takeRest(caller, actual - estimated);
      else take(caller, actual - estimated);
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
      takeRest(caller, Math.max(1, countTokens(query, refusedTokensMax)));
    },
  };

  function take({ principal, clientAddress }: Charged, cost: number) {
    return principal
      ? ofCredentials.take(principal.credential.id, cost)
      : ofAddresses.take(addressBucket(clientAddress), cost);
  }

  function takeRest(caller: Charged, cost: number): void {
    take(caller, Math.min(cost, take(caller, 0).remaining));
  }
}

const tooMuch = ({ resetSeconds }: { readonly resetSeconds: number }) =>
  new AppError("rate_limited", "This caller's operations cost too much in total. Try again later.", {
    retryAfterSeconds: resetSeconds,
  });

/** Introspection is counted up to this cost where no limit applies. */
const introspectedMax = 10_000;
/** A check reads no more of a document than the limit of tokens, which is at most this. */
const refusedTokensMax = 100_000;

interface Estimates {
  readonly variables: readonly string[];
  readonly byLengths: Map<string, number>;
}

const estimates = new WeakMap<OperationDefinitionNode, Estimates>();
const lengthsMax = 64;

/** Caches estimates with their documents. */
function estimateOnce(
  schema: GraphQLSchema,
  { document, operation, variables }: ChosenOperation,
  pageSize: number,
  objectsMax: number,
): number {
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
