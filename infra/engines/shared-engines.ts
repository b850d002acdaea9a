import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Endpoint, type Endpoints, readEndpoints, writeEndpoints } from "./endpoints.ts";
import type { Engine, EngineName, RunningEngine } from "./engine.ts";
import { runFolder } from "./engine-folders.ts";
import { sharedEngines } from "./engines.ts";
import { withFileLock } from "./file-lock.ts";
import { sweepOwnEngines } from "./own-engines.ts";
import { isRunning, stopProcess } from "./processes.ts";

const lockFile = join(runFolder, "engines.lock");
/** A fetch on a slow line happens inside the lock. */
const lockWaitMs = 15 * 60_000;

/** How a shared engine is: `stale` means that the file names a process that is gone or does not answer. */
export type EngineState = "running" | "stopped" | "stale";

/**
 * Starts the engines that do not run yet and returns the addresses of all. Several processes may call it at once; the
 * engines outlive them and serve every later test run until `stopSharedEngines`.
 */
export async function startSharedEngines(report: (line: string) => void): Promise<Endpoints> {
  return await withFileLock(lockFile, lockWaitMs, async () => {
    const endpoints = await readEndpoints();
    await Promise.all(
      sharedEngines.map(async (engine) => {
        const known = endpoints[engine.name];
        if ((await stateOf(engine, known)) === "running") return report(`${engine.name} runs already`);
        endpoints[engine.name] = await startFresh(engine, known);
        // Written after each one: should another engine fail, this one is still known and can be stopped.
        await writeEndpoints(endpoints);
        report(`${engine.name} started on port ${endpoints[engine.name]?.port}`);
      }),
    );
    return endpoints;
  });
}

/** Stops what `startSharedEngines` started, by process, and forgets it: all of it, or the engines of these names. */
export async function stopSharedEngines(
  report: (line: string) => void,
  names: readonly EngineName[] = sharedEngines.map(({ name }) => name),
): Promise<void> {
  await withFileLock(lockFile, lockWaitMs, async () => {
    const endpoints = await readEndpoints();
    for (const engine of sharedEngines.filter(({ name }) => names.includes(name))) {
      const endpoint = endpoints[engine.name];
      if (!endpoint) continue;
      await stopEngine(engine, endpoint);
      delete endpoints[engine.name];
      await writeEndpoints(endpoints);
      report(`${engine.name} stopped`);
    }
    await sweepOwnEngines();
  });
}

/** The state of every shared engine. */
export async function sharedEngineStates(): Promise<{ name: EngineName; state: EngineState; endpoint?: Endpoint }[]> {
  const endpoints = await readEndpoints();
  return await Promise.all(
    sharedEngines.map(async (engine) => {
      const endpoint = endpoints[engine.name];
      return { name: engine.name, state: await stateOf(engine, endpoint), ...(endpoint && { endpoint }) };
    }),
  );
}

async function stateOf(engine: Engine, endpoint: Endpoint | undefined): Promise<EngineState> {
  if (!endpoint) return "stopped";
  if (!isOurs(endpoint) || !(await isRunning(endpoint))) return "stale";
  return (await engine.answers(endpoint.port)) ? "running" : "stale";
}

/** Old data would only slow the next run down: every test makes what it needs. */
async function startFresh(engine: Engine, known: Endpoint | undefined): Promise<RunningEngine> {
  if (known) await stopEngine(engine, known);
  await engine.fetch();
  const folder = join(runFolder, engine.name);
  await rm(folder, { recursive: true, force: true });
  return await engine.start({ folder });
}

async function stopEngine(engine: Engine, endpoint: Endpoint): Promise<void> {
  if (isOurs(endpoint)) await stopProcess(endpoint, engine.stopSignal);
}

function isOurs(endpoint: Endpoint): endpoint is RunningEngine {
  return endpoint.pid !== undefined && endpoint.identity !== undefined && endpoint.port !== undefined;
}
