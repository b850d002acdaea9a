import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readJson, writeDurably } from "./durable-file.ts";
import type { Engine, EnginePlace, RunningEngine } from "./engine.ts";
import { enginesFolder } from "./engine-folders.ts";
import { engineNamed } from "./engines.ts";
import {
  haltProcesses,
  isRunning,
  type ProcessHandle,
  processIdentity,
  processTree,
  signalProcess,
  stopProcess,
} from "./processes.ts";

const ownFolder = join(enginesFolder, "own");

/** An engine that one test has for itself, to pause, kill and start again as it likes. */
export type OwnEngine = Awaited<ReturnType<typeof startOwnEngine>>;

/** Starts an engine of its own for one test. The caller closes it; what a killed test left behind is swept later. */
export async function startOwnEngine(engine: Engine, place: Omit<EnginePlace, "folder"> & { folder?: string } = {}) {
  await sweepOwnEngines();
  await engine.fetch();
  const folder = place.folder ?? join(ownFolder, `${engine.name}-${process.pid}-${crypto.randomUUID().slice(0, 8)}`);
  await mkdir(folder, { recursive: true });
  let running = await engine.start({ ...place, folder });
  const { port, url, details } = running;
  await remember(folder, running);

  const signalAll = async (signal: NodeJS.Signals) => {
    for (const pid of await processTree(running.pid)) signalProcess(pid, signal);
  };
  const kill = async () => {
    await signalAll("SIGKILL");
    await stopProcess(running, "SIGKILL");
  };
  return {
    name: engine.name,
    url,
    port,
    details,
    folder,
    /** Ends every process of the engine at once, as `kill -9` does. */
    kill,
    /** Lists its processes, of its present run. */
    processes: () => processTree(running.pid),
    /** Halts every process of the engine (SIGSTOP): connections stay open and nothing answers. */
    pause: async () => haltProcesses(await processTree(running.pid)),
    resume: () => signalAll("SIGCONT"),
    /** Starts it on the same port and data, after a kill or an orderly stop of the running one. */
    restart: async () => {
      await stopProcess(running, engine.stopSignal);
      running = await engine.start({ ...place, folder, port });
      await remember(folder, running);
    },
    /** Ends the engine and deletes its data. */
    close: async () => {
      await kill();
      await removeFolders(folder, running.folder);
    },
  };
}

async function removeFolders(...folders: string[]): Promise<void> {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
}

interface Remembered {
  readonly owner: ProcessHandle;
  readonly engine: RunningEngine;
}

const rememberedFile = (folder: string) => join(folder, "engine.json");

async function remember(folder: string, engine: RunningEngine): Promise<void> {
  const owner = { pid: process.pid, identity: (await processIdentity(process.pid)) ?? "" };
  // In one step, because the sweep of another test reads it at any time.
  await writeDurably(rememberedFile(folder), JSON.stringify({ owner, engine } satisfies Remembered));
}

/** Ends the engines whose test was killed before it could close them. */
export async function sweepOwnEngines(): Promise<void> {
  for (const name of await readdir(ownFolder).catch(() => [])) {
    const folder = join(ownFolder, name);
    const remembered = await readJson<Remembered>(rememberedFile(folder));
    if (remembered === null || (await isRunning(remembered.owner))) continue;
    const { engine } = remembered;
    await stopProcess(engine, engineNamed(engine.name).stopSignal);
    await removeFolders(folder, engine.folder);
  }
}
