import { parseArgs } from "node:util";
import { builtGenerators } from "./built-generators.ts";
import { type Generator, NeedsDevelopmentError } from "./generator.ts";
import { compareOutput, writeOutput } from "./output.ts";

/** By this code the set-up knows that it has to install the packages for development. */
const needsDevelopment = 3;

const { values } = parseArgs({ options: { check: { type: "boolean" }, built: { type: "boolean" } } });

if (values.built) await each(builtGenerators, write);
else {
  const { generators } = await import("./generators.ts");
  if (values.check) {
    await each(
      generators.filter(({ kind }) => kind === "committed"),
      check,
    );
  } else await each(generators, write);
}

/** Runs generators. A failing one does not stop the others. */
async function each(generators: readonly Generator[], work: (generator: Generator) => Promise<void>): Promise<void> {
  for (const generator of generators) {
    try {
      await work(generator);
    } catch (error) {
      console.error(`${generator.name}: ${(error as Error).message}`);
      process.exitCode = error instanceof NeedsDevelopmentError ? needsDevelopment : 1;
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
