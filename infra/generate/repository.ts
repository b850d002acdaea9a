import { existsSync, globSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The root of the repository, with a slash at its end. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

/** A library or a service: its own name and its folder. */
export interface Package {
  readonly name: string;
  readonly kind: "library" | "service";
  readonly folder: string;
}

/** Lists the libraries and services that have `file`, libraries first, each kind by name. */
export async function packagesWith(file: string): Promise<Package[]> {
  const packages = [...(await packagesIn("libs", "library")), ...(await packagesIn("services", "service"))];
  return packages.filter(({ folder }) => existsSync(join(root, folder, file)));
}

async function packagesIn(group: string, kind: Package["kind"]): Promise<Package[]> {
  const names = (await readdir(join(root, group))).sort();
  return names.map((name) => ({ name, kind, folder: `${group}/${name}` }));
}

/** Imports an entry of `exports`, such as `./edges`, of every package that has it. */
export async function importDoors(door: string): Promise<(Package & { readonly module: object })[]> {
  const opened = (await packagesWith("package.json")).map(async (one) => {
    const { exports } = JSON.parse(await readFile(join(root, one.folder, "package.json"), "utf8"));
    if (exports?.[door] === undefined) return [];
    return [{ ...one, module: await import(pathToFileURL(join(root, one.folder, exports[door])).href) }];
  });
  return (await Promise.all(opened)).flat();
}

/** Lists the files below a folder of the repository by their paths from its root. */
export const filesIn = (folder: string, base = root): string[] =>
  globSync(`${folder}/**`, { cwd: base, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(base, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));

/** Makes a folder that is removed at the end of the block that uses it. */
export async function temporaryFolder(prefix: string, parent = tmpdir()): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(parent, prefix));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}
