import { hash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { root } from "./repository.ts";

interface Recipe {
  /** The file that the text is kept in. */
  readonly name: string;
  /** The modules that make it, by their paths. */
  readonly sources: readonly string[];
  readonly inputs: readonly string[];
  readonly make: () => Promise<string>;
}

/**
 * Gives the text that was made the last time, and makes it anew where an input, a source or the version of a package differs.
 * Composing the graph and writing the types of the client take most of the time of `npm run check`'s generators.
 */
export async function remember(
  { name, sources, inputs, make }: Recipe,
  folder = join(root, "node_modules/.cache/signalbox/remembered"),
): Promise<string> {
  const read = [...sources, join(root, "package-lock.json")].map((path) => readFile(path, "utf8"));
  const digest = hash("sha256", JSON.stringify([...(await Promise.all(read)), ...inputs]));
  const file = join(folder, name);
  const kept = await readFile(file, "utf8").catch(() => "");
  if (kept.startsWith(digest)) return kept.slice(digest.length);
  const text = await make();
  await mkdir(folder, { recursive: true });
  // Renamed when it is whole: another process may read it now.
  await writeFile(`${file}.${process.pid}`, digest + text);
  await rename(`${file}.${process.pid}`, file);
  return text;
}
