import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EngineName } from "./engine.ts";
import { runFolder } from "./engine-folders.ts";
import { createEngineSet } from "./engine-set.ts";
import { sharedEngines } from "./engines.ts";
import { joinUsers } from "./file-lock.ts";
import { sweepOwnEngines } from "./own-engines.ts";

const set = createEngineSet({ folder: runFolder, engines: sharedEngines });

/** Starts the engines that all tests of this clone share, where they do not run yet. */
export const startSharedEngines = set.start;

/**
 * Runs `work` while these shared engines run. The last of the test runs that use them stops them, if a test run started
 * them: engines that somebody started by hand go on.
 */
export async function withSharedEngines<T>(names: readonly EngineName[], work: () => Promise<T>): Promise<T> {
  const leave = await joinUsers(join(runFolder, "users.lock"));
  try {
    const wasRunning = (await sharedEngineStates()).some(({ state }) => state === "running");
    await startSharedEngines(() => {}, names);
    if (!wasRunning) await writeFile(ofTests, "");
    return await work();
  } finally {
    await leave(async () => {
      if (existsSync(ofTests)) await stopSharedEngines(() => {});
    });
  }
}

/** Marks that a test run started the engines. */
const ofTests = join(runFolder, "of-tests");

export const sharedEngineStates = set.states;

/** Stops the shared engines, all or those of these names, and the engines that killed tests left behind. */
export async function stopSharedEngines(report: (line: string) => void, names?: readonly EngineName[]): Promise<void> {
  await set.stop(report, names);
  await rm(ofTests, { force: true });
  await sweepOwnEngines();
}
