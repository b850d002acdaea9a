import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../../generate/repository.ts";
import { sourceFiles } from "../source-files.ts";
import { type Manifest, type Repository, readRepository } from "./modules.ts";

/** Reads the sources and the manifests of this repository. */
export function readSources(): Repository {
  const modules = [...present("*.ts"), ...present("*.tsx")].map((path) => ({ path, text: textOf(path) }));
  return readRepository(modules, present("*package.json").map(manifestAt));
}

function present(pattern: string): string[] {
  return sourceFiles(pattern).filter((path) => existsSync(join(root, path)));
}

function manifestAt(path: string): Manifest {
  const { name, exports = {} } = JSON.parse(textOf(path));
  return { folder: dirname(path), name, exports };
}

const textOf = (path: string): string => readFileSync(join(root, path), "utf8");
