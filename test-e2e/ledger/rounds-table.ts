import { groupBy } from "./invariants/look-up.ts";
import type { RoundFigures } from "./round-figures.ts";

/** Returns the rounds of a run as a table in Markdown, a row for each fault, as docs/reference/reliability.md has it. */
export function roundsTable(rounds: readonly RoundFigures[]): string {
  const groups = [...groupBy(rounds, ({ fault }) => fault)].sort(([one], [other]) => one.localeCompare(other, "en"));
  return [
    "| fault | rounds | acknowledged | violations | repeated on the log | repeated at the receiver | writes held up | all runs again: p50 | events flow again: p50 | p95 | max |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
    ...groups.map(([fault, ofFault]) => rowOf(fault, ofFault)),
    rowOf("**all**", rounds),
  ].join("\n");
}

function rowOf(name: string, rounds: readonly RoundFigures[]): string {
  const sum = (member: keyof RoundFigures) => rounds.reduce((total, round) => total + Number(round[member] ?? 0), 0);
  const undone = rounds.flatMap(({ undoMs }) => undoMs ?? []);
  const recovered = rounds.map(({ recoveryMs }) => recoveryMs);
  const cells = [
    name,
    rounds.length,
    sum("acknowledged"),
    sum("violations"),
    share(sum("repeatedOnLog"), sum("records")),
    share(sum("repeatedAtReceiver"), sum("receipts")),
    share(sum("heldUp"), sum("writesInFault")),
    quantile(undone, 0.5),
    ...[0.5, 0.95, 1].map((part) => quantile(recovered, part)),
  ];
  return `| ${cells.join(" | ")} |`;
}

const share = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(2)} %`;

function quantile(times: readonly number[], part: number): string {
  if (times.length === 0) return "–";
  const sorted = times.toSorted((a, b) => a - b);
  const milliseconds = sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] as number;
  return Number.isFinite(milliseconds) ? `${(milliseconds / 1000).toFixed(1)} s` : "never";
}
