import { mkdir, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readIfThere, writeDurably } from "./durable-file.ts";
import type { Engine, EngineName, RunningEngine } from "./engine.ts";
import { runFolder } from "./engine-folders.ts";
import { withFileLock } from "./file-lock.ts";
import { isRunning, stopProcess } from "./processes.ts";

/**
 * The address of an engine for a test. Engines that somebody else runs (named by `TEST_ENGINES_FILE`) have a URL
 * and details only; ours also say which process they are.
 */
export type Endpoint = Pick<RunningEngine, "url" | "details"> & Partial<RunningEngine>;

export type Endpoints = Partial<Record<EngineName, Endpoint>>;

/** The file into which `start` writes the addresses of the shared engines. */
export const endpointsFile = join(runFolder, "endpoints.json");

/** Reads an endpoints file; a missing one reads as no engines. */
export const readEndpoints = async (file = endpointsFile): Promise<Endpoints> =>
  JSON.parse(String((await readIfThere(file)) ?? "{}"));

/** Replaces the file in one step, because tests read it at any time. It holds the database password, hence its mode. */
async function writeEndpoints(endpoints: Endpoints, file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeDurably(file, `${JSON.stringify(endpoints, null, 2)}\n`);
}

/** State of an engine: `stale` means that the file names a process that is gone or does not answer. */
type EngineState = "running" | "stopped" | "stale";

type Report = (line: string) => void;

/** A fetch on a slow line happens inside the lock. */
const lockWaitMs = 15 * 60_000;
/** A busy machine makes an engine late. Only one that stays silent is replaced: others may be working with it. */
const silenceMsMax = 120_000;

/**
 * Engines that run together, outlive the process that started them, and are found again through a file. `folder` holds their
 * addresses, the lock and a folder for each.
 */
export function createEngineSet({ folder, engines }: { readonly folder: string; readonly engines: readonly Engine[] }) {
  const file = join(folder, "endpoints.json");
  const locked = <T>(work: () => Promise<T>) => withFileLock(join(folder, "engines.lock"), lockWaitMs, work);

  /** Old data would only slow the next run down: every test makes what it needs. */
  async function startFresh(engine: Engine, known: Endpoint | undefined): Promise<RunningEngine> {
    if (known) await stopEngine(engine, known);
    await engine.fetch();
    const engineFolder = join(folder, engine.name);
    for (const old of [engineFolder, known?.folder]) if (old) await rm(old, { recursive: true, force: true });
    return await engine.start({ folder: engineFolder });
  }

  return {
    /** Starts what does not run yet, of all or of these names, and returns the addresses of all. Several processes may call it at once. */
    start: (report: Report, names?: readonly EngineName[]): Promise<Endpoints> =>
      locked(async () => {
        const endpoints = await readEndpoints(file);
        // One write after the other: engines that are ready at the same moment would take each other's unfinished file.
        let written = Promise.resolve();
        const wanted = engines.filter(({ name }) => names?.includes(name) ?? true);
        await allOrFirstError(wanted, async (engine) => {
          const known = endpoints[engine.name];
          if ((await stateOf(engine, known, silenceMsMax)) === "running") return report(`${engine.name} runs already`);
          const running = await startFresh(engine, known);
          endpoints[engine.name] = running;
          // Written after each one: should another engine fail, this one is still known and can be stopped.
          written = written.then(() => writeEndpoints(endpoints, file));
          await written;
          report(`${engine.name} started on port ${running.port}`);
        });
        return endpoints;
      }),

    /** Stops what `start` started, by process, and forgets it: all of it, or the engines of these names. */
    stop: (report: Report, names?: readonly EngineName[]): Promise<void> =>
      locked(async () => {
        const endpoints = await readEndpoints(file);
        for (const engine of engines.filter(({ name }) => names?.includes(name) ?? true)) {
          const endpoint = endpoints[engine.name];
          if (!endpoint) continue;
          await stopEngine(engine, endpoint);
          // Data in memory would hold it until the machine starts anew.
          if (endpoint.folder && relative(folder, endpoint.folder).startsWith(".."))
            await rm(endpoint.folder, { recursive: true, force: true });
          delete endpoints[engine.name];
          await writeEndpoints(endpoints, file);
          report(`${engine.name} stopped`);
        }
      }),

    async states() {
      const endpoints = await readEndpoints(file);
      return await Promise.all(
        engines.map(async (engine) => {
          const endpoint = endpoints[engine.name];
          return { name: engine.name, state: await stateOf(engine, endpoint), ...(endpoint && { endpoint }) };
        }),
      );
    },
  };
}

/** Lets all finish before it fails, so that nothing is still starting when the lock is given back. */
async function allOrFirstError<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const ends = await Promise.allSettled(items.map(work));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

async function stateOf(engine: Engine, endpoint: Endpoint | undefined, patienceMs = 0): Promise<EngineState> {
  if (!endpoint) return "stopped";
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    if (!isOurs(endpoint) || !(await isRunning(endpoint))) return "stale";
    if (await engine.answers(endpoint.port)) return "running";
    if (performance.now() >= giveUpAt) return "stale";
    await sleep(100);
  }
}

async function stopEngine(engine: Engine, endpoint: Endpoint): Promise<void> {
  if (isOurs(endpoint)) await stopProcess(endpoint, engine.stopSignal);
}

function isOurs(endpoint: Endpoint): endpoint is RunningEngine {
  return endpoint.pid !== undefined && endpoint.identity !== undefined && endpoint.port !== undefined;
}
