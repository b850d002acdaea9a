import type { Principal } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { FlagContext, FlagEvaluation, FlagSet } from "@signalbox/flags";
import type { Overrides } from "./overrides/open-overrides.ts";
import type { ClassifiedOverrides } from "./overrides/override-copy.ts";

/** The flags of the state topic, as a service asks them. */
export interface Flags {
  /** What the flag gives the account that a principal acts for. A flag that is not there gives null, with the reason `ERROR`. */
  evaluate(key: string, principal: Principal): FlagEvaluation;
  readonly set: FlagSet;
  /** The overrides and flags in force, with the revision of each. */
  current(): ClassifiedOverrides;
  /** Calls back after each change of overrides or flags. */
  onChange(listener: () => void): void;
}

export function openFlags(overrides: Pick<Overrides, "flags" | "current" | "onChange">, clock: Clock): Flags {
  const { flags: set, current, onChange } = overrides;
  return {
    set,
    current,
    onChange,
    evaluate: (key, principal) => set.evaluate(key, flagContextOf(principal), clock.nowMs()),
  };
}

/** What is known of the account of a principal. */
export function flagContextOf({ accountId, roles, profile }: Principal): FlagContext {
  return { accountId, roles, locale: profile?.locale ?? null, createdAtMs: profile?.createdAtMs ?? null };
}
