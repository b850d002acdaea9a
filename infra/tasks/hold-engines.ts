import { environment } from "@signalbox/config";
import { sharedEngineStates, startSharedEngines, stopSharedEngines } from "../engines/index.ts";

interface HeldEngines {
  /** Stops the engines when they were started here; engines that ran before go on. */
  release(): Promise<void>;
}

const notOurs: HeldEngines = { release: async () => {} };

/**
 * Sees to it that the engines of the tests run. Nothing is started when the environment names engines that somebody else
 * runs. An engine that is absent from the machine fails with the command that installs it: tests are never left out.
 */
export async function holdEngines(report: (line: string) => void): Promise<HeldEngines> {
  if (environment().TEST_ENGINES_FILE) return notOurs;
  const states = await sharedEngineStates();
  await startSharedEngines(report);
  // When one runs already, somebody works with them: what was missing joins those, and `npm run engines -- stop` ends all.
  if (states.some(({ state }) => state === "running")) return notOurs;
  return { release: () => stopSharedEngines(() => {}) };
}
