import { type Engine, EngineAbsentError, type EngineName } from "./engine.ts";
import { kafka } from "./kafka/kafka.ts";
import { postgres } from "./postgres/postgres.ts";
import { nginx, prometheus, redis, versitygw } from "./program-engines.ts";

/** Every real engine of this repository, in the order in which they are fetched. */
const engines: readonly Engine[] = [postgres, redis, kafka, versitygw, nginx, prometheus];

/** The engines that all tests of a run share; nginx and Prometheus need a configuration per test. */
export const sharedEngines: readonly Engine[] = engines.filter((engine) => engine !== nginx && engine !== prometheus);

export function engineNamed(name: EngineName): Engine {
  const engine = engines.find((each) => each.name === name);
  if (!engine) throw new Error(`there is no engine "${name}"`);
  return engine;
}

/**
 * Brings every engine to this machine. Reports everything that is absent, not the first only.
 * @throws EngineAbsentError with all the commands that install what is absent.
 */
export async function fetchEngines(report: (line: string) => void): Promise<void> {
  const absent: string[] = [];
  for (const engine of engines) {
    try {
      report(`${engine.name.padEnd(12)} ${await engine.fetch()}`);
    } catch (error) {
      if (!(error instanceof EngineAbsentError)) throw error;
      absent.push(error.message);
    }
  }
  if (absent.length > 0) throw new EngineAbsentError(absent.join("\n"));
}
