import { environment } from "@signalbox/config";
import type { EngineName } from "../../engines/engine.ts";
import { sharedEngineStates, startSharedEngines, stopSharedEngines } from "../../engines/index.ts";

/**
 * Runs `work` while these shared engines run, and stops them afterwards if it started them. Nothing is started when the
 * environment names engines that somebody else runs. Engines that ran before go on: `npm run engines -- stop` ends them.
 */
export async function withEngines<T>(names: readonly EngineName[], work: () => Promise<T>): Promise<T> {
  if (environment().TEST_ENGINES_FILE) return await work();
  const wasRunning = (await sharedEngineStates()).some(({ state }) => state === "running");
  await startSharedEngines(() => {}, names);
  try {
    return await work();
  } finally {
    if (!wasRunning) await stopSharedEngines(() => {});
  }
}
