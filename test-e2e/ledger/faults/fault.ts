import type { Random } from "../random.ts";
import type { LedgerSystem, Mode } from "../systems/ledger-system.ts";

/** A fault that has started. */
export interface StartedFault {
  /** Names of the processes that it halts: time that they do not get does not count against the product. */
  readonly halted?: readonly string[];
  /** Undoes the fault; returns once processes and engines answer again. */
  undo(): Promise<void>;
}

/** One thing that can go wrong. */
export interface Fault {
  readonly name: string;
  readonly modes: readonly Mode[];
  /** Time until it is undone. */
  readonly lastsMs: number;
  /** True when it is too slow for the rounds of the tests. */
  readonly isLong?: true;
  /** True when it starts the system anew, so it comes before the accounts of the round. */
  readonly comesFirst?: true;
  /** Its effect on callers, in words. Given for the faults of machines, which are played each by itself. */
  readonly users?: string;
  /** The alerts that tell of it in a deployment. */
  readonly alerts?: readonly string[];
  begin(system: LedgerSystem, random: Random): Promise<StartedFault>;
}

export const both: readonly Mode[] = ["embedded", "engines"];
