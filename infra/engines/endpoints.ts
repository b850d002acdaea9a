import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { EngineName, RunningEngine } from "./engine.ts";
import { runFolder } from "./engine-folders.ts";

/**
 * The address of an engine for a test. Engines that somebody else runs (named by `TEST_ENGINES_FILE`) have a URL
 * and details only; ours also say which process they are.
 */
export type Endpoint = Pick<RunningEngine, "url" | "details"> & Partial<RunningEngine>;

export type Endpoints = Partial<Record<EngineName, Endpoint>>;

/** The file into which `start` writes the addresses of the shared engines. */
export const endpointsFile = join(runFolder, "endpoints.json");

/** Reads an endpoints file; a missing one reads as no engines. */
export async function readEndpoints(file = endpointsFile): Promise<Endpoints> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Endpoints;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}

/** Replaces the file in one step, because tests read it at any time. It holds the database password, hence its mode. */
export async function writeEndpoints(endpoints: Endpoints, file = endpointsFile): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, `${JSON.stringify(endpoints, null, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, file);
}
