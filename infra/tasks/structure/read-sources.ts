import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../../generate/repository.ts";
import { sourceFiles } from "../source-files.ts";
import { type Manifest, type Repository, readRepository } from "./modules.ts";

/** Reads the sources and the manifests of this repository. */
export function readSources(): Repository {
  const modules = present("*.ts").map((path) => ({ path, text: readText(path) ?? "" }));
  return readRepository(modules, present("*package.json").map(manifestAt));
}

/** The text of a file, by its path from the root; null when there is none. */
export function readText(path: string): string | null {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : null;
}

function present(pattern: string): string[] {
  return sourceFiles(pattern).filter((path) => existsSync(join(root, path)));
}

function manifestAt(path: string): Manifest {
  const { name, exports = {} } = JSON.parse(readText(path) ?? "{}");
  return { folder: dirname(path), name, exports };
}
