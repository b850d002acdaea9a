import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { groupBy } from "../invariants/look-up.ts";
import type { Mode } from "../systems/ledger-system.ts";
import type { RoundFigures } from "./figures.ts";

const page = new URL("../../../docs/reference/reliability.md", import.meta.url);

interface Run {
  readonly mode: Mode;
  readonly seed: number;
  readonly figures: readonly RoundFigures[];
}

/** Writes the table of a run into the reference, in the place of its mode. */
export async function writeReliability(run: Run): Promise<void> {
  const text = await readFile(page, "utf8");
  const [start, end] = [`<!-- ${run.mode}:start -->`, `<!-- ${run.mode}:end -->`];
  const [before, rest] = text.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${page.pathname} has no place for ${run.mode}`);
  await writeFile(page, `${before}${start}\n${tableOf(run)}\n${end}${after}`);
}

function tableOf({ mode, seed, figures }: Run): string {
  const command = `npm run ledger -- --mode ${mode} --rounds ${figures.length} --seed ${seed}`;
  const day = new Date().toISOString().slice(0, 10);
  const groups = [...groupBy(figures, ({ fault }) => fault)].sort(([one], [other]) => one.localeCompare(other));
  const calm = figures.filter(({ ofLog }) => !ofLog);
  return [
    `\`${command}\`, ${day}, ${cpus().length} cores:`,
    "",
    "| fault | rounds | acknowledged | violations | repeated on the log | repeated at the receiver | events flow again: p50 | p95 | max |",
    "|---|---|---|---|---|---|---|---|---|",
    ...groups.map(([fault, rounds]) => rowOf(fault, rounds)),
    rowOf("**all**", figures),
    ...(calm.length === figures.length ? [] : [rowOf("**all but those of Kafka**", calm)]),
  ].join("\n");
}

function rowOf(name: string, rounds: readonly RoundFigures[]): string {
  const sum = (of: (round: RoundFigures) => number) => rounds.reduce((total, round) => total + of(round), 0);
  const share = (part: number, whole: number) => `${((100 * part) / Math.max(1, whole)).toFixed(2)} %`;
  const times = rounds.map(({ recoveryMs }) => recoveryMs).sort((a, b) => a - b);
  const quantile = (part: number) =>
    `${((times[Math.min(times.length - 1, Math.ceil(part * times.length) - 1)] ?? 0) / 1000).toFixed(1)} s`;
  const cells = [
    name,
    rounds.length,
    sum(({ acknowledged }) => acknowledged),
    sum(({ violations }) => violations),
    share(
      sum(({ repeatedOnLog }) => repeatedOnLog),
      sum(({ records }) => records),
    ),
    share(
      sum(({ repeatedAtReceiver }) => repeatedAtReceiver),
      sum(({ receipts }) => receipts),
    ),
    quantile(0.5),
    quantile(0.95),
    quantile(1),
  ];
  return `| ${cells.join(" | ")} |`;
}
