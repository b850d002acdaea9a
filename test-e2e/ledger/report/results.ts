import { execFile } from "node:child_process";
import { appendFile, readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Mode } from "../systems/ledger-system.ts";
import type { RoundFigures } from "./figures.ts";

const git = promisify(execFile);

/** The rounds of docs/reference/reliability.md. */
export const roundsFile = fileURLToPath(new URL("../../../docs/reference/reliability-rounds.jsonl", import.meta.url));

/** The rounds of the faults of machines, each played by itself. */
export const machineRoundsFile = fileURLToPath(
  new URL("../../../docs/reference/reliability-machine-rounds.jsonl", import.meta.url),
);

/** The figures of one round, its seed and its machine. */
export interface PlayedRound extends RoundFigures {
  readonly mode: Mode;
  readonly seed: number;
  readonly day: string;
  /** Ends with a plus when there were uncommitted changes. */
  readonly commit?: string;
  readonly cores?: number;
}

/** The common facts of a run's rounds. */
export async function provenance(mode: Mode, seed: number): Promise<Omit<PlayedRound, keyof RoundFigures>> {
  const day = new Date().toISOString().slice(0, 10);
  return { mode, seed, day, commit: await commitNow(), cores: cpus().length };
}

/** The incidents of `npm run incidents`. */
const incidentsFile = fileURLToPath(new URL("../../../docs/reference/incidents.jsonl", import.meta.url));

/** An incident that was planted, found by its alert and mended by its runbook. */
export interface PlayedIncident {
  readonly incident: string;
  readonly alert: string;
  /** The finding and the repair. */
  readonly done: string;
  readonly toAlertMs: number;
  readonly toMendMs: number;
  readonly toEndMs: number;
  readonly day: string;
  readonly commit: string;
}

export async function appendIncident(played: Omit<PlayedIncident, "day" | "commit">): Promise<void> {
  const day = new Date().toISOString().slice(0, 10);
  const line = JSON.stringify({ ...played, day, commit: await commitNow() }, (_, value) =>
    typeof value === "number" ? Math.round(value) : value,
  );
  await appendFile(incidentsFile, `${line}\n`);
}

export async function readIncidents(): Promise<PlayedIncident[]> {
  const lines = (await readFile(incidentsFile, "utf8")).split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line));
}

/** The rounds file itself does not count as a change. */
async function commitNow(): Promise<string> {
  const { stdout: commit } = await git("git", ["rev-parse", "--short=8", "HEAD"]);
  const { stdout: changes } = await git("git", ["status", "--porcelain"]);
  const isChanged = changes.split("\n").some((line) => line !== "" && !line.includes("docs/"));
  return `${commit.trim()}${isChanged ? "+" : ""}`;
}

/** Appends a round to a file of JSON lines, so that runs on several days or machines make one table. */
export async function appendResult(file: string, round: PlayedRound): Promise<void> {
  const line = JSON.stringify(round, (_, value) => (typeof value === "number" ? Math.round(value) : value));
  await appendFile(file, `${line}\n`);
}

/** Reads every recorded round, in order. */
export async function readResults(file: string): Promise<PlayedRound[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const round = JSON.parse(line);
    // JSON has no infinity: a round that did not end never recovered.
    const endless = { recoveryMs: round.recoveryMs ?? Number.POSITIVE_INFINITY };
    return { ...round, ...endless, settleMs: round.settleMs ?? Number.POSITIVE_INFINITY };
  });
}
