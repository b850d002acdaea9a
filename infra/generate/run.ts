import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { builtGenerators } from "./built-generators.ts";
import { compareOutput, type Generator, NeedsDevelopmentError, writeOutput } from "./generator.ts";
import { root } from "./repository.ts";

/** By this code the set-up knows that it has to install the packages for development. */
const needsDevelopment = 3;

const { values } = parseArgs({
  options: { check: { type: "boolean" }, built: { type: "boolean" }, list: { type: "string" } },
});

if (values.built) await build(values.list);
else {
  const { generators } = await import("./generators.ts");
  const inGit = generators.filter(({ kind }) => kind !== "built");
  await (values.check ? each(inGit, check) : each(generators, write));
}

/** Writes the built files and a list of their paths, by which set-up sees that one is missing. */
async function build(listFile: string | undefined): Promise<void> {
  const paths: string[] = [];
  await each(
    builtGenerators.filter(({ needs }) => needs === undefined || isInstalled(needs)),
    async (generator) => void paths.push(...(await write(generator)).keys()),
  );
  if (listFile !== undefined) await writeFile(join(root, listFile), JSON.stringify(paths));
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Runs generators. A failing one does not stop the others. */
async function each(chosen: readonly Generator[], work: (generator: Generator) => Promise<unknown>): Promise<void> {
  for (const generator of chosen) {
    try {
      await work(generator);
    } catch (error) {
      console.error(`${generator.name}: ${(error as Error).message}`);
      process.exitCode = error instanceof NeedsDevelopmentError ? needsDevelopment : 1;
    }
  }
}

async function write(generator: Generator): Promise<ReadonlyMap<string, string>> {
  const output = await generator.generate();
  const changed = await writeOutput(output, await generator.folders?.());
  for (const path of changed) if (generator.kind !== "built") console.log(`${generator.name}: ${path}`);
  return output;
}

async function check(generator: Generator): Promise<void> {
  const stale = await compareOutput(await generator.generate(), await generator.folders?.());
  if (stale.length === 0) return;
  console.error(`${generator.name}: stale; run \`npm run generate\` and commit\n  ${stale.join("\n  ")}`);
  process.exitCode = 1;
}
