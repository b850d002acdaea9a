import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { root } from "./repository.ts";

type Output = ReadonlyMap<string, string>;

/** Files with this ending are kept compressed: a tool needs them in git, and nobody reads them there. */
const compressed = /\.br$/;

/** Writes changed files and removes extra ones in `folders`. Returns the paths of both. */
export async function writeOutput(output: Output, folders: readonly string[], base = root): Promise<string[]> {
  const stale = await compareOutput(output, folders, base);
  for (const path of stale) {
    const content = output.get(path);
    const file = join(base, path);
    if (content === undefined) {
      await rm(file);
    } else {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, compressed.test(path) ? brotliCompressSync(content) : content);
    }
  }
  return stale;
}

/** Lists the paths of files that are missing, differ from `output`, or are obsolete. */
export async function compareOutput(output: Output, folders: readonly string[], base = root): Promise<string[]> {
  const stale: string[] = [];
  for (const [path, content] of output) {
    if ((await readContent(join(base, path))) !== content) stale.push(path);
  }
  for (const folder of folders) {
    stale.push(...(await filesUnder(base, folder)).filter((path) => !output.has(path)));
  }
  return stale;
}

/** Reads a generated file as it was before it was compressed; null where there is none. */
export async function readContent(file: string): Promise<string | null> {
  const bytes = await readFile(file).catch(orWhenMissing(null));
  if (bytes === null) return null;
  return (compressed.test(file) ? brotliDecompressSync(bytes) : bytes).toString();
}

async function filesUnder(base: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(base, folder), { recursive: true, withFileTypes: true }).catch(orWhenMissing([]));
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(base, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));
}

function orWhenMissing<Value>(value: Value) {
  return (error: NodeJS.ErrnoException): Value => {
    if (error.code === "ENOENT") return value;
    throw error;
  };
}
