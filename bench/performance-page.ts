import { benches } from "./benches.ts";
import type { RecordedFigure } from "./history.ts";

/** Renders the figures of the newest run of each bench, in the order of the table of benches. */
export function performancePage(history: readonly RecordedFigure[]): string {
  const figures = newestOf(history);
  const judged = figures.filter(({ met }) => met !== null);
  const missed = judged.filter(({ met }) => met === false);
  const runs = new Map(figures.map((figure) => [figure.bench, figure]));
  return `${[
    "# Performance",
    "",
    "Written by `npm run bench -- <name>` from [its history](../../bench/history.jsonl). Load, service and",
    "engines share one machine: compare a value with its baseline, as machines and days differ by half. `npm run bench` says what is measured.",
    "",
    `**${missed.length} of ${judged.length} wanted figures are missed.**`,
    `Runs: ${[...runs.values()].map(runOf).join("; ")}.`,
    "",
    "| bench | figure | measured | baseline | wanted | result |",
    "|---|---|---|---|---|---|",
    ...figures.map(rowOf),
  ].join("\n")}\n`;
}

/** Lists the figures of the last run of each bench, without those that it no longer measures. */
function newestOf(history: readonly RecordedFigure[]): RecordedFigure[] {
  return Object.keys(benches).flatMap((name) => {
    const rows = history.filter(({ bench }) => bench === name);
    const last = rows.at(-1);
    const newest = rows.filter(({ date, commit }) => date === last?.date && commit === last.commit);
    // Run twice on one commit, the later rows hold.
    return [...new Map(newest.map((row) => [row.figure, row])).values()];
  });
}

const runOf = ({ bench, date, commit, machine }: RecordedFigure): string =>
  [`\`${bench}\` ${date}`, commit, machine].filter(Boolean).join(", ");

function rowOf({ bench, figure, value, unit, baseline, wanted, met }: RecordedFigure): string {
  const cells = [
    `\`${bench}\``,
    figure,
    `${numeral(value)}${unit && ` ${unit}`}`,
    baseline ?? "",
    wanted === null ? "" : "least" in wanted ? `≥ ${numeral(wanted.least)}` : `≤ ${numeral(wanted.most)}`,
    met === null ? "" : met ? "met" : "**missed**",
  ];
  return `| ${cells.join(" | ")} |`;
}

const numeral = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 2 });
