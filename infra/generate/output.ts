import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { root } from "./repository.ts";

type Output = ReadonlyMap<string, string>;

/** Writes what differs and removes what `folders` hold beyond `output`. Gives the paths it touched. */
export async function writeOutput(output: Output, folders: readonly string[]): Promise<string[]> {
  const stale = await compareOutput(output, folders);
  for (const path of stale) {
    const content = output.get(path);
    const file = join(root, path);
    if (content === undefined) {
      await rm(file);
    } else {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
  }
  return stale;
}

/** The paths whose file is missing, differs from `output`, or should not be there. */
export async function compareOutput(output: Output, folders: readonly string[]): Promise<string[]> {
  const stale: string[] = [];
  for (const [path, content] of output) {
    if ((await contentOf(path)) !== content) stale.push(path);
  }
  for (const folder of folders) {
    stale.push(...(await filesUnder(folder)).filter((path) => !output.has(path)));
  }
  return stale;
}

async function contentOf(path: string): Promise<string | null> {
  return readFile(join(root, path), "utf8").catch(orWhenMissing(null));
}

async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(orWhenMissing([]));
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replaceAll("\\", "/"));
}

function orWhenMissing<Value>(value: Value) {
  return (error: NodeJS.ErrnoException): Value => {
    if (error.code === "ENOENT") return value;
    throw error;
  };
}
