import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Generator } from "./generator.ts";
import { generators } from "./generators.ts";
import { compareOutput, writeOutput } from "./output.ts";
import { root } from "./repository.ts";

const usage = `usage: npm run generate [-- --check | --built [--list <file>]]
  --check  writes nothing; fails naming each committed file that is stale
  --built  only what processes and the type check need of the files that git ignores, as the set-up of every command does
  --list   writes the paths of these files, as JSON, into a file`;

const { values } = parseArgs({
  options: {
    check: { type: "boolean" },
    built: { type: "boolean" },
    list: { type: "string" },
    help: { type: "boolean" },
  },
});

if (values.help) console.log(usage);
else if (values.check) await each(ofKind("committed"), check);
else if (values.built) await build(values.list);
else await each(generators, write);

function ofKind(wanted: Generator["kind"]): Generator[] {
  return generators.filter(({ kind }) => kind === wanted);
}

/** Writes the built files and a list of their paths, by which set-up sees that one is missing. */
async function build(listFile: string | undefined): Promise<void> {
  const paths: string[] = [];
  await each(
    ofKind("built").filter(({ needs }) => needs === undefined || isInstalled(needs)),
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
      process.exitCode = 1;
    }
  }
}

async function write(generator: Generator): Promise<ReadonlyMap<string, string>> {
  const output = await generator.generate();
  const changed = await writeOutput(output, await generator.folders());
  for (const path of changed) if (generator.kind === "committed") console.log(`${generator.name}: ${path}`);
  return output;
}

async function check(generator: Generator): Promise<void> {
  const stale = await compareOutput(await generator.generate(), await generator.folders());
  if (stale.length === 0) return;
  console.error(`${generator.name}: stale; run \`npm run generate\` and commit\n  ${stale.join("\n  ")}`);
  process.exitCode = 1;
}
