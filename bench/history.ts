import { execFile } from "node:child_process";
import { appendFile, readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The records of every figure that is still measured, one JSON object a line, oldest first. */
export const historyFile = fileURLToPath(new URL("./history.jsonl", import.meta.url));

/** One run of a benchmark. */
export interface BenchRun {
  readonly date: string;
  /** With a plus when something was changed and not committed; null where nobody noted it. */
  readonly commit: string | null;
  readonly machine: string;
  readonly bench: string;
}

export interface RecordedFigure extends BenchRun, Figure {
  readonly met: boolean | null;
}

/** Describes a run that starts now, on this machine and commit. */
export async function startedNow(bench: string): Promise<BenchRun> {
  const machine = `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Node ${process.versions.node}`;
  return { date: new Date().toISOString().slice(0, 10), commit: await commitNow(), machine, bench };
}

/** Appends the figures of a run. */
export async function appendFigures(file: string, run: BenchRun, figures: readonly Figure[]): Promise<void> {
  const rows = figures.map((figure): RecordedFigure => ({ ...run, ...figure, met: isMet(figure) }));
  await appendFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

export async function readHistory(file: string): Promise<RecordedFigure[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line));
}

/** Changes of documents and of the history itself change nothing that is measured. */
async function commitNow(): Promise<string> {
  const git = promisify(execFile);
  const { stdout: commit } = await git("git", ["rev-parse", "--short=8", "HEAD"]);
  const { stdout: changes } = await git("git", ["status", "--porcelain"]);
  const isChanged = changes.split("\n").some((line) => line !== "" && !/docs\/|bench\/history\.jsonl/.test(line));
  return `${commit.trim()}${isChanged ? "+" : ""}`;
}

/** One measured value and, where there is one, the bound that it should keep. */
export interface Figure {
  readonly figure: string;
  readonly value: number;
  /** Empty for a share or a multiple. */
  readonly unit: string;
  /** The measurement of the same run that the value is compared with, in words. */
  readonly baseline: string | null;
  readonly wanted: { readonly least: number } | { readonly most: number } | null;
}

/** The outcome of one run of a bench. */
export interface BenchResult {
  /** Everything that was measured, for the screen. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Figures for the history. */
  readonly figures: readonly Figure[];
}

/** A figure that should not exceed a bound. */
export function most(figure: string, bound: number, value: number, unit = "", baseline: string | null = null): Figure {
  return { figure, value, unit, baseline, wanted: { most: bound } };
}

/** A figure that should reach a bound. */
export function least(figure: string, bound: number, value: number, unit = "", baseline: string | null = null): Figure {
  return { figure, value, unit, baseline, wanted: { least: bound } };
}

/** Null for a figure without a bound. */
export function isMet({ value, wanted }: Figure): boolean | null {
  if (wanted === null) return null;
  return "least" in wanted ? value >= wanted.least : value <= wanted.most;
}
