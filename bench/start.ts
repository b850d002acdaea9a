import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "@signalbox/core";
import { processTree } from "@signalbox/infra/engines/processes.ts";
import { startProcess, type TestProcess } from "@signalbox/testing";
import { memoryOf, rounded } from "./bench-parts.ts";
import { most } from "./history.ts";

const warmStarts = 5;
const targets = { readyMs: 3_000, residentMiB: 600 };
const task = fileURLToPath(new URL("../infra/tasks/run.mjs", import.meta.url));
const script = "infra/embedded/start.ts";

export interface Memory {
  readonly residentMiB: number;
  /** The share of the machine: pages of files that they have in common, of Node's program above all, count once. */
  readonly takenMiB: number;
  /** Proportional: buffers shared by its processes are counted once. */
  readonly postgresMiB: number;
}

interface Start extends Memory {
  readonly readyMs: number;
}

export async function run() {
  const parent = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  await chmod(parent, 0o755);
  const folder = join(parent, "data");
  try {
    const bareMs = await emptyNode();
    const first = await measure(folder);
    const warm: Start[] = [];
    for (let count = 0; count < warmStarts; count++) warm.push(await measure(folder));
    const median = (of: (start: Start) => number) => warm.map(of).sort((a, b) => a - b)[warmStarts >> 1] as number;
    const typical = {
      readyMs: median(({ readyMs }) => readyMs),
      residentMiB: median(({ residentMiB }) => residentMiB),
      takenMiB: median(({ takenMiB }) => takenMiB),
      postgresMiB: median(({ postgresMiB }) => postgresMiB),
    };
    return {
      rows: [
        { start: "an empty Node", readyMs: bareMs },
        { start: "first, empty folder", ...first },
        { start: `warm, median of ${warmStarts}`, ...typical },
      ],
      figures: [
        most("warm start", targets.readyMs, typical.readyMs, "ms", `an empty Node ${bareMs} ms`),
        most("memory of all services", targets.residentMiB, typical.residentMiB, "MiB"),
      ],
    };
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}

async function emptyNode(): Promise<number> {
  const startedMs = systemClock.steadyMs();
  await startProcess("--eval=0").exited;
  return Math.round(systemClock.steadyMs() - startedMs);
}

async function measure(folder: string): Promise<Start> {
  const startedMs = systemClock.steadyMs();
  const ports = ["http.port", "internal.port", "management.server.port"].map((name) => `--${name}=0`);
  const process = startProcess(task, [script, `--embedded.data-directory=${folder}`, ...ports]);
  try {
    await process.waitForOutput(/Ctrl-C stops it/, 120_000);
    const readyMs = Math.round(systemClock.steadyMs() - startedMs);
    // The first one only waits for the others.
    const services = (await processTree(process.pid)).filter((pid) => pid !== process.pid);
    return { readyMs, ...(await memoryOfEmbedded(services, folder)) };
  } finally {
    await stopped(process);
  }
}

/** Measures these processes of an embedded system and, apart from them, the database of its data folder. */
export async function memoryOfEmbedded(pids: readonly number[], dataDirectory: string): Promise<Memory> {
  const database = new Set(await processTree(await postmasterOf(dataDirectory)));
  const services = pids.filter((pid) => !database.has(pid));
  return { ...(await memoryOfServices(services)), postgresMiB: await memoryOf("Pss", [...database]) };
}

/** Measures processes of one program. */
export async function memoryOfServices(pids: readonly number[]): Promise<Omit<Memory, "postgresMiB">> {
  const residentMiB = await memoryOf("Rss", pids);
  const ownMiB = await memoryOf("Anonymous", pids);
  const files = pids.map(async (pid) => (await memoryOf("Rss", [pid])) - (await memoryOf("Anonymous", [pid])));
  return { residentMiB, takenMiB: rounded(ownMiB + Math.max(0, ...(await Promise.all(files)))) };
}

async function stopped(process: TestProcess): Promise<void> {
  process.signal("SIGTERM");
  await process.exited;
}

async function postmasterOf(folder: string): Promise<number> {
  const text = await readFile(join(folder, "postgres", "data", "postmaster.pid"), "utf8");
  return Number(text.split("\n")[0]);
}
