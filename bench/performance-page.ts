import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { benches } from "./benches.ts";
import { historyFile, type RecordedFigure, readHistory } from "./history.ts";

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
    "Written by `npm run bench -- <name>` from [its history](../../bench/history.jsonl), which keeps older figures too. Load, service and",
    "engines share one machine: compare a value with its baseline, as machines and days differ by half. `npm run bench` says what is measured.",
    "",
    `**${missed.length} of ${judged.length} wanted figures are missed.**`,
    "",
    `Machines: ${machines.map((machine, index) => `${letter(index)} ${machine}`).join("; ")}.`,
    "",
    "| bench | figure | measured | baseline | wanted | result | measured on |",
    "|---|---|---|---|---|---|---|",
    ...figures.map((figure) => rowOf(figure, letter(machines.indexOf(figure.machine)))),
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

function rowOf(row: RecordedFigure, machine: string): string {
  const { bench, figure, value, unit, baseline, wanted, met, date, commit } = row;
  const cells = [
    `\`${bench}\``,
    figure,
    `${numeral(value)}${unit && ` ${unit}`}`,
    baseline ?? "–",
    wanted === null ? "–" : "least" in wanted ? `at least ${numeral(wanted.least)}` : `at most ${numeral(wanted.most)}`,
    met === null ? "–" : met ? "met" : "**missed**",
    [date, machine, commit].filter(Boolean).join(", "),
  ];
  return `| ${cells.join(" | ")} |`;
}

const letter = (index: number): string => String.fromCharCode(65 + index);
const numeral = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 2 });
