import type { Random } from "../random.ts";
import type { LedgerSystem, Mode } from "../systems/ledger-system.ts";

/** A fault that has begun. */
export interface Begun {
  /** The processes that it halts: time that they do not get does not count against the product. */
  readonly halted?: readonly string[];
  /** Gives back what was taken; returns once processes and engines answer again. */
  undo(): Promise<void>;
}

/** One thing that can go wrong. */
export interface Fault {
  readonly name: string;
  readonly modes: readonly Mode[];
  /** How long it lasts before it is undone. */
  readonly lastsMs: number;
  /** Takes so long that it is left out of `npm test`. */
  readonly isLong?: true;
  /** Takes away the broker itself: pages that it took without an answer are published again. */
  readonly ofLog?: true;
  /** Begins the system anew, so it comes before the accounts of the round. */
  readonly comesFirst?: true;
  begin(system: LedgerSystem, random: Random): Promise<Begun>;
}

export const both: readonly Mode[] = ["embedded", "engines"];
