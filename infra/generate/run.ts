import { parseArgs } from "node:util";
import type { Generator } from "./generator.ts";
import { generators } from "./generators.ts";
import { compareOutput, writeOutput } from "./output.ts";

const usage = `usage: npm run generate [-- --check | --built]
  --check  writes nothing; fails naming each committed file that is stale
  --built  only the files that git ignores, as the set-up of every command does`;

const { values } = parseArgs({
  options: { check: { type: "boolean" }, built: { type: "boolean" }, help: { type: "boolean" } },
});

if (values.help) console.log(usage);
else if (values.check) await check();
else await write(values.built ? generators.filter(({ kind }) => kind === "built") : generators);

async function write(chosen: readonly Generator[]): Promise<void> {
  for (const generator of chosen) {
    const changed = await writeOutput(await generator.generate(), await generator.folders());
    for (const path of changed) if (generator.kind === "committed") console.log(`${generator.name}: ${path}`);
  }
}

async function check(): Promise<void> {
  const stale: string[] = [];
  for (const generator of generators.filter(({ kind }) => kind === "committed")) {
    stale.push(...(await compareOutput(await generator.generate(), await generator.folders())));
  }
  if (stale.length === 0) return;
  console.error(`Stale generated files; run \`npm run generate\` and commit:\n  ${stale.join("\n  ")}`);
  process.exitCode = 1;
}
