import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "@signalbox/core";
import { processTree } from "@signalbox/infra/engines/processes.ts";
import { startProcess, type TestProcess } from "@signalbox/testing";
import { most } from "./history.ts";
import { type Memory, measureMemory, memoryOfEmbedded } from "./memory.ts";

const warmStarts = 5;
const targets = { readyMs: 3_000, residentMiB: 600 };
const task = fileURLToPath(new URL("../infra/tasks/run.mjs", import.meta.url));
const script = "infra/embedded/start.ts";

interface Start extends Memory {
  readonly readyMs: number;
}

/** Starts an empty and a filled folder, and then measures the memory of what runs. */
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
    const memory = await measureMemory();
    return {
      rows: [
        { start: "an empty Node", readyMs: bareMs },
        { start: "first, empty folder", ...first },
        { start: `warm, median of ${warmStarts}`, ...typical },
        ...memory.rows,
      ],
      figures: [
        most("warm start", targets.readyMs, typical.readyMs, "ms", `an empty Node ${bareMs} ms`),
        most("memory of all services", targets.residentMiB, typical.residentMiB, "MiB"),
        ...memory.figures,
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

async function stopped(process: TestProcess): Promise<void> {
  process.signal("SIGTERM");
  await process.exited;
}
