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
else if (values.check) await each("committed", check);
else if (values.built) await each("built", write);
else await each(null, write);

/** Runs the generators of one kind, or all. A failing one does not stop the others. */
async function each(kind: Generator["kind"] | null, work: (generator: Generator) => Promise<void>): Promise<void> {
  for (const generator of generators) {
    if (kind !== null && generator.kind !== kind) continue;
    try {
      await work(generator);
    } catch (error) {
      console.error(`${generator.name}: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
}

async function write(generator: Generator): Promise<void> {
  const changed = await writeOutput(await generator.generate(), await generator.folders());
  for (const path of changed) if (generator.kind === "committed") console.log(`${generator.name}: ${path}`);
}

async function check(generator: Generator): Promise<void> {
  const stale = await compareOutput(await generator.generate(), await generator.folders());
  if (stale.length === 0) return;
  console.error(`${generator.name}: stale; run \`npm run generate\` and commit\n  ${stale.join("\n  ")}`);
  process.exitCode = 1;
}
