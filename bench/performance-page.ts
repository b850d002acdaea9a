import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { benches } from "./benches.ts";
import { historyFile, type RecordedFigure, readHistory } from "./history.ts";
import { numeral } from "./numbers.ts";

const page = fileURLToPath(new URL("../docs/reference/performance.md", import.meta.url));

/** Writes the page anew from the history. */
export async function writePerformancePage(): Promise<void> {
  await writeFile(page, performancePage(await readHistory(historyFile)));
}

/** Renders the figures of the newest runs, bench by bench, in the order of the table of benches. */
export function performancePage(history: readonly RecordedFigure[]): string {
  const figures = newestOf(history);
  const judged = figures.filter(({ met }) => met !== null);
  const missed = judged.filter(({ met }) => met === false);
  const machines = [...new Set(figures.map(({ machine }) => machine))];
  return `${[
    "# Performance",
    "",
    "Written by `npm run bench -- <name>` from [its history](../../bench/history.jsonl). Load, service and",
    "engines share one machine: compare a value with its baseline, as machines and days differ by half. `npm run bench` says what is measured.",
    "",
    `**${missed.length} of ${judged.length} wanted figures are missed.**`,
    `Machines: ${machines.map((machine, index) => `${letter(index)} ${machine}`).join("; ")}.`,
    `Runs: ${runsOf(figures, machines).join("; ")}.`,
    "",
    "| bench | figure | measured | baseline | wanted | result |",
    "|---|---|---|---|---|---|",
    ...percentilesTogether(figures).map(rowOf),
  ].join("\n")}\n`;
}

/** The figures of the newest run of each bench; what a bench no longer measures is left out. */
function newestOf(history: readonly RecordedFigure[]): RecordedFigure[] {
  return Object.keys(benches).flatMap((name) => {
    const rows = history.filter(({ bench }) => bench === name);
    const last = rows.at(-1);
    const newest = rows.filter(({ date, commit }) => date === last?.date && commit === last.commit);
    // Run twice on one commit, the later rows hold.
    return [...new Map(newest.map((row) => [row.figure, row])).values()];
  });
}

type Row = readonly [RecordedFigure, ...RecordedFigure[]];

/**
 * Groups the figures that differ only in their percentile, such as `accepted, p50` and `accepted, p99`, and those that a
 * bench names together: `page: script`, `page: first content`.
 */
function percentilesTogether(figures: readonly RecordedFigure[]): Row[] {
  const rowKey = ({ bench, figure }: RecordedFigure) =>
    `${bench} ${figure.replace(/, p\d+$/, ", p").replace(/^([^:]+: ).*$/, "$1")}`;
  return [...Map.groupBy(figures, rowKey).values()].map((row) => row as unknown as Row);
}

/** Names the run of each bench: all of its figures are of one. */
function runsOf(figures: readonly RecordedFigure[], machines: readonly string[]): string[] {
  const firsts = new Map(figures.toReversed().map((figure) => [figure.bench, figure]));
  return [...firsts.values()]
    .toReversed()
    .map(({ bench, date, machine, commit }) =>
      [`\`${bench}\` ${date}`, letter(machines.indexOf(machine)), commit].filter(Boolean).join(", "),
    );
}

function rowOf(row: Row): string {
  const [{ bench, figure }, ...others] = row;
  const each = (cell: (one: RecordedFigure) => string) => {
    const cells = row.map(cell);
    return new Set(cells).size === 1 ? cells[0] : cells.join("; ");
  };
  const cells = [
    `\`${bench}\``,
    [figure, ...others.map((other) => restOf(other.figure))].join("; "),
    each(({ value, unit }) => `${numeral(value)}${unit && ` ${unit}`}`),
    each(({ baseline }) => baseline ?? ""),
    each(({ wanted }) => boundOf(wanted)),
    each(({ met }) => (met === null ? "" : met ? "met" : "**missed**")),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** The end of a figure's name that its row has not said yet. */
const restOf = (figure: string): string =>
  /^[^:]+: /.test(figure) ? figure.slice(figure.indexOf(": ") + 2) : figure.slice(figure.lastIndexOf(" ") + 1);

function boundOf(wanted: RecordedFigure["wanted"]): string {
  if (wanted === null) return "";
  return "least" in wanted ? `≥ ${numeral(wanted.least)}` : `≤ ${numeral(wanted.most)}`;
}

const letter = (index: number): string => String.fromCharCode(65 + index);
