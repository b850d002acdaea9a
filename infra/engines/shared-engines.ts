import type { EngineName } from "./engine.ts";
import { runFolder } from "./engine-folders.ts";
import { createEngineSet } from "./engine-set.ts";
import { sharedEngines } from "./engines.ts";
import { sweepOwnEngines } from "./own-engines.ts";

const set = createEngineSet({ folder: runFolder, engines: sharedEngines });

/** Starts the engines that all tests of this clone share, where they do not run yet. */
export const startSharedEngines = set.start;

/** The state of every shared engine. */
export const sharedEngineStates = set.states;

/** Stops the shared engines, all or those of these names, and the engines that killed tests left behind. */
export async function stopSharedEngines(report: (line: string) => void, names?: readonly EngineName[]): Promise<void> {
  await set.stop(report, names);
  await sweepOwnEngines();
}
