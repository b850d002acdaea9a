import { writeFile } from "node:fs/promises";
import process from "node:process";
import { benches } from "./benches.ts";
import { appendFigures, historyFile, isMet, readHistory, startedNow } from "./history.ts";
import { performancePage } from "./performance-page.ts";

const page = new URL("../docs/reference/performance.md", import.meta.url);
const usage = `usage: npm run bench -- <name>
Runs one benchmark with its baseline, adds its figures to bench/history.jsonl and rewrites docs/reference/performance.md.

${Object.entries(benches)
  .map(([name, { description }]) => `  ${name.padEnd(15)}${description}`)
  .join("\n")}

Example: npm run bench -- publish
`;

const [name = "--help"] = process.argv.slice(2);
const bench = benches[name];
if (bench === undefined) {
  process[name === "--help" ? "stdout" : "stderr"].write(usage);
  process.exit(name === "--help" ? 0 : 2);
}
process.stdout.write(`${name}: ${bench.description}\n`);
const run = await startedNow(name);
const { rows, figures } = await (await bench.load()).run();
console.table(rows);
console.table(
  figures.map((figure) => {
    const { baseline: _, wanted, ...shown } = figure;
    return { ...shown, wanted: wanted && JSON.stringify(wanted), met: isMet(figure) };
  }),
);
await appendFigures(historyFile, run, figures);
await writeFile(page, performancePage(await readHistory(historyFile)));
// Pools of clients that a bench compared against may keep the process alive.
process.exit(0);
