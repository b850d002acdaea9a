import type { Principal } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Attributes } from "./flags/attribute-condition.ts";
import type { FlagContext, FlagEvaluation } from "./flags/flag-context.ts";
import type { FlagSet } from "./flags/flag-set.ts";
import type { Overrides } from "./overrides/open-overrides.ts";
import type { ClassifiedOverrides } from "./overrides/override-copy.ts";

/** Evaluates the flags of the state topic. */
export interface Flags {
  /**
   * Evaluates the flag for the account of a principal, with attributes of its own. An unknown flag gives null, with the
   * reason `ERROR`.
   */
  evaluate(key: string, principal: Principal, attributes?: Attributes): FlagEvaluation;
  readonly set: FlagSet;
  /** Returns the active overrides and flags, with the revision of each. */
  current(): ClassifiedOverrides;
  /** Calls the listener after each change of overrides or flags. */
  onChange(listener: () => void): void;
}

export function openFlags(overrides: Overrides, clock: Clock): Flags {
  const { flags: set, current, onChange } = overrides;
  return {
    set,
    current,
    onChange,
    evaluate: (key, principal, attributes) => set.evaluate(key, flagContextOf(principal, attributes), clock.nowMs()),
  };
}

/** Builds the evaluation context of a principal's account. */
export function flagContextOf({ accountId, roles, profile }: Principal, attributes: Attributes = {}): FlagContext {
  return { accountId, roles, locale: profile?.locale ?? null, createdAtMs: profile?.createdAtMs ?? null, attributes };
}
