import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../../generate/repository.ts";
import { type Tier, tierOf } from "./tiers.ts";

/** Test files that share one process, one after the other, so that the code they have in common is loaded once. */
export interface Bundle {
  readonly name: string;
  readonly files: readonly string[];
}

/**
 * Files in one process. Units are quick and mostly loading. Files of the other tiers wait for engines much of the time:
 * short bundles keep every core busy to the end, and a process that a test brings down takes few others with it.
 */
const filesMax: Readonly<Record<Tier, number>> = { unit: 60, int: 12, engines: 1, long: 1 };

/** A test about its own process (memory, signals, globals) says so at the top of its file, with the reason. */
const ownProcess = /^\/\/ Own process: /m;

/** Places by how long their bundles take: whole systems and whole documents first, libraries last. */
const places = ["test-e2e", "bench", "infra", "services", "libs"];

/** Groups files by package and tier. The slow ones come first, so that the run does not end with one long bundle. */
export async function bundlesOf(files: readonly string[]): Promise<Bundle[]> {
  const groups = new Map<string, string[]>();
  const bundles: Bundle[] = [];
  for (const file of files) {
    if (ownProcess.test(await readFile(join(root, file), "utf8"))) bundles.push({ name: file, files: [file] });
    else {
      const key = `${tierOf(file)} ${file.split("/").slice(0, 2).join("/")}`;
      groups.set(key, [...(groups.get(key) ?? []), file]);
    }
  }
  for (const [key, group] of groups) {
    const [tier, place] = key.split(" ") as [Tier, string];
    const count = Math.ceil(group.length / filesMax[tier]);
    // Dealt out in turn: neighbours by name are often alike in length.
    for (let part = 0; part < count; part++) {
      bundles.push({ name: `${place} ${tier} ${part + 1}`, files: group.filter((_, index) => index % count === part) });
    }
  }
  const rank = ({ files: [first = ""] }: Bundle) =>
    places.length * ["long", "engines", "int", "unit"].indexOf(tierOf(first)) +
    places.indexOf(first.split("/")[0] ?? "");
  return bundles.sort((a, b) => rank(a) - rank(b));
}

/** Writes a script for each bundle into the folder, and gives their paths. Node's runner starts them by their names. */
export async function writeBundles(folder: string, bundles: readonly Bundle[]): Promise<string[]> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const runFiles = pathToFileURL(join(import.meta.dirname, "run-files.ts")).href;
  return await Promise.all(
    bundles.map(async ({ name, files }, index) => {
      const place = String(index).padStart(3, "0");
      const path = join(folder, `${place}-${name.replaceAll(/[^a-z0-9]+/gi, "-")}.mjs`);
      const text = `import { runFiles } from ${JSON.stringify(runFiles)};\nawait runFiles(${JSON.stringify(files)});\n`;
      await writeFile(path, text);
      return path;
    }),
  );
}
