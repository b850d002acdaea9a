import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { readIfThere } from "../engines/durable-file.ts";
import { filesIn, root } from "./repository.ts";

/** Thrown when generating needs the packages for development, which a start does not install. */
export class NeedsDevelopmentError extends Error {}

/**
 * One source of generated files. To add one: write a file in `generators/` and add it to the list of `generators.ts`.
 */
export interface Generator {
  readonly name: string;
  /**
   * `built` files are ignored by git and made by the set-up of every command: processes and the type check need them.
   * The others are committed, and `npm run check` fails when one is stale.
   */
  readonly kind?: "built";
  /** A development package that it works with. Set-up leaves the generator out where only what runs is installed. */
  readonly needs?: string;
  /** Folders with only generated files: a file in them that is no longer generated is removed. */
  readonly folders?: () => Promise<readonly string[]>;
  /** Generates the content of every file, by its path from the root of the repository. */
  readonly generate: () => Promise<ReadonlyMap<string, string>>;
}

/** A generator of one file in git, by its path from the root of the repository. */
export const fileGenerator = (path: string, content: () => string | Promise<string>): Generator => ({
  name: path,
  generate: async () => new Map([[path, await content()]]),
});

type Output = ReadonlyMap<string, string>;

/** Files with this ending are kept compressed: a tool needs them in git, and nobody reads them there. */
const compressed = /\.br$/;

/** Writes changed files and removes extra ones in `folders`. Returns the paths of both. */
export async function writeOutput(output: Output, folders: readonly string[] = [], base = root): Promise<string[]> {
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
export async function compareOutput(output: Output, folders: readonly string[] = [], base = root): Promise<string[]> {
  const stale: string[] = [];
  for (const [path, content] of output) {
    if ((await readContent(join(base, path))) !== content) stale.push(path);
  }
  for (const folder of folders) {
    stale.push(...filesIn(folder, base).filter((path) => !output.has(path)));
  }
  return stale;
}

/** Reads a generated file as it was before it was compressed; null where there is none. */
export async function readContent(file: string): Promise<string | null> {
  const bytes = await readIfThere(file);
  if (bytes === null) return null;
  return (compressed.test(file) ? brotliDecompressSync(bytes) : bytes).toString();
}

/** Files that git keeps as one: the kept ones, or those made anew when their sources have changed. */
export async function keptFiles(file: string, sources: string, make: () => Promise<Kept["files"]>): Promise<Kept> {
  const kept: Kept | null = JSON.parse((await readContent(join(root, file))) ?? "null");
  return kept?.sources === sources ? kept : { sources, files: await make() };
}

interface Kept {
  /** Digest of what the files were made from. */
  readonly sources: string;
  readonly files: Readonly<Record<string, string>>;
}
