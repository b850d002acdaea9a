import { appendFile, readFile } from "node:fs/promises";
import type { Mode } from "../systems/ledger-system.ts";
import type { RoundFigures } from "./figures.ts";

/** The figures of one round, and how it is played again. */
export interface PlayedRound extends RoundFigures {
  readonly mode: Mode;
  readonly seed: number;
  readonly day: string;
}

/** Adds rounds to a file of JSON lines, so that runs on several days or machines make one table. */
export async function appendResults(file: string, rounds: readonly PlayedRound[]): Promise<void> {
  await appendFile(file, rounds.map((round) => `${JSON.stringify(round)}\n`).join(""));
}

/** Every round that was kept. */
export async function readResults(file: string): Promise<PlayedRound[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const round = JSON.parse(line);
    // JSON has no infinity: a round that did not end never recovered.
    const endless = { recoveryMs: round.recoveryMs ?? Number.POSITIVE_INFINITY };
    return { ...round, ...endless, settleMs: round.settleMs ?? Number.POSITIVE_INFINITY };
  });
}
