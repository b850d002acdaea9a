import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

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
