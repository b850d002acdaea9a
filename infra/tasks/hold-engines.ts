import { environment } from "@signalbox/config";
import { sharedEngineStates, startSharedEngines, stopSharedEngines } from "../engines/index.ts";

interface HeldEngines {
  /** Stops the engines that were started here; those that ran before go on. */
  release(): Promise<void>;
}

/**
 * Sees to it that the engines of the tests run. Nothing is started when the environment names engines that somebody else
 * runs. An engine that is absent from the machine fails with the command that installs it: tests are never left out.
 */
export async function holdEngines(report: (line: string) => void): Promise<HeldEngines> {
  if (environment().SIGNALBOX_TEST_ENGINES) return { release: async () => {} };
  const started = (await sharedEngineStates()).filter(({ state }) => state !== "running").map(({ name }) => name);
  await startSharedEngines(report);
  return { release: () => stopSharedEngines(() => {}, started) };
}
