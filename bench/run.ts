import process from "node:process";
import { parseArgs } from "node:util";
import { benches } from "./benches.ts";
import { appendFigures, historyFile, isMet, startedNow } from "./history.ts";
import { writePerformancePage } from "./performance-page.ts";

const usage = `usage: npm run bench -- <name> [--seconds <n>]
Runs one benchmark with its baseline, adds its figures to bench/history.jsonl and rewrites docs/reference/performance.md.
A run with --seconds is a look at a bench that takes long: it is shorter, and not recorded.

${Object.entries(benches)
  .map(([name, { description }]) => `  ${name.padEnd(12)}${description}`)
  .join("\n")}

Example: npm run bench -- publish
`;

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== "--help"),
  options: { seconds: { type: "string" } },
  allowPositionals: true,
});
const name = process.argv.includes("--help") ? "--help" : (positionals[0] ?? "");
const seconds = values.seconds === undefined ? undefined : Number(values.seconds);
if (name === "--help") {
  process.stdout.write(usage);
  process.exit(0);
}
const bench = benches[name];
if (bench === undefined || (seconds !== undefined && !(seconds > 0))) {
  process.stderr.write(usage);
  process.exit(2);
}
process.stdout.write(`${name}: ${bench.description}\n`);
const run = await startedNow(name);
const { rows, figures } = await (await bench.load()).run(seconds === undefined ? {} : { seconds });
console.table(rows);
console.table(
  figures.map(({ figure, value, unit, wanted, ...rest }) => ({
    figure,
    value,
    unit,
    wanted: wanted && JSON.stringify(wanted),
    met: isMet({ figure, value, unit, wanted, ...rest }),
  })),
);
if (seconds === undefined) {
  await appendFigures(historyFile, run, figures);
  await writePerformancePage();
}
// Pools of clients that a bench compared against may keep the process alive.
process.exit(0);
