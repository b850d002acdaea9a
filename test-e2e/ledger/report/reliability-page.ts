import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { groupBy } from "../invariants/look-up.ts";
import type { Mode } from "../systems/ledger-system.ts";
import type { RoundFigures } from "./figures.ts";
import type { PlayedRound } from "./results.ts";

const page = new URL("../../../docs/reference/reliability.md", import.meta.url);

/** Writes the table of these rounds into the reference, in the place of their mode. */
export async function writeReliability(mode: Mode, rounds: readonly PlayedRound[]): Promise<void> {
  const text = await readFile(page, "utf8");
  const [start, end] = [`<!-- ${mode}:start -->`, `<!-- ${mode}:end -->`];
  const [before, rest] = text.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${page.pathname} has no place for ${mode}`);
  await writeFile(page, `${before}${start}\n${tableOf(mode, rounds)}\n${end}${after}`);
}

function tableOf(mode: Mode, rounds: readonly PlayedRound[]): string {
  const groups = [...groupBy(rounds, ({ fault }) => fault)].sort(([one], [other]) => one.localeCompare(other));
  const calm = rounds.filter(({ ofLog }) => !ofLog);
  return [
    `${runsOf(mode, rounds)}, ${cpus().length} cores:`,
    "",
    "| fault | rounds | acknowledged | violations | repeated on the log | repeated at the receiver | events flow again: p50 | p95 | max |",
    "|---|---|---|---|---|---|---|---|---|",
    ...groups.map(([fault, ofFault]) => rowOf(fault, ofFault)),
    rowOf("**all**", rounds),
    ...(calm.length === rounds.length ? [] : [rowOf("**all but those of Kafka**", calm)]),
  ].join("\n");
}

/** The commands, and the days on which they ran. */
function runsOf(mode: Mode, rounds: readonly PlayedRound[]): string {
  const seeds = [...groupBy(rounds, ({ seed }) => String(seed))].map(
    ([seed, { length }]) => `${length} of seed ${seed}`,
  );
  const days = [...new Set(rounds.map(({ day }) => day))].sort();
  const [one] = rounds;
  const command = `npm run ledger -- --mode ${mode} --rounds`;
  return seeds.length === 1
    ? `\`${command} ${rounds.length} --seed ${one?.seed}\`, ${days.join(", ")}`
    : `\`${command} N --seed S\`, ${rounds.length} rounds (${seeds.join(", ")}), ${days.join(", ")}`;
}

function rowOf(name: string, rounds: readonly RoundFigures[]): string {
  const sum = (of: (round: RoundFigures) => number) => rounds.reduce((total, round) => total + of(round), 0);
  const share = (part: number, whole: number) => `${((100 * part) / Math.max(1, whole)).toFixed(2)} %`;
  const times = rounds.map(({ recoveryMs }) => recoveryMs).sort((a, b) => a - b);
  const quantile = (part: number) => {
    const milliseconds = times[Math.min(times.length - 1, Math.ceil(part * times.length) - 1)] ?? 0;
    return Number.isFinite(milliseconds) ? `${(milliseconds / 1000).toFixed(1)} s` : "never";
  };
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
