import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { minutes, type ServiceName, seconds } from "@signalbox/core";
import { processTree } from "@signalbox/infra/engines/processes.ts";
import { createReceiver } from "@signalbox/testing";
import { removeData, startEmbeddedSystem } from "../test-e2e/systems/embedded-system.ts";
import { services, startEnginesSystem } from "../test-e2e/systems/engines-system.ts";
import { memoryOf, rounded } from "./bench-parts.ts";
import { openDoors } from "./doors.ts";
import { type BenchResult, most } from "./history.ts";
import { pacedLoad } from "./paced-load.ts";

/** Long enough for what a start leaves behind to be collected. */
const restMs = minutes(1);
const afterLoadMs = seconds(10);
/** Below every limit of one account, together. */
const load = { perSecond: 40, seconds: 60, connections: 32 };
const targetsMiB = { atRest: 260, afterLoad: 500, processes: 850 };

export interface Memory {
  readonly residentMiB: number;
  /** The share of the machine: pages of files that they have in common, of Node's program above all, count once. */
  readonly takenMiB: number;
  /** Proportional: buffers shared by its processes are counted once. */
  readonly postgresMiB: number;
}

/** Measures the memory of the embedded system, at rest and after a minute of load, and of one idle process per service. */
export async function measureMemory(): Promise<BenchResult> {
  const { atRest, afterLoad } = await embedded();
  const { each, all } = await enginesIdle();
  const besides = ({ residentMiB, postgresMiB }: Memory) =>
    `${residentMiB} MiB resident; PostgreSQL ${postgresMiB} MiB besides`;
  return {
    rows: [
      { system: "embedded, at rest", ...atRest },
      { system: "embedded, 10 s after the load", ...afterLoad },
      ...Object.entries(each).map(([service, residentMiB]) => ({ system: `${service}, idle`, residentMiB })),
    ],
    figures: [
      most("embedded, all services: at rest", targetsMiB.atRest, atRest.takenMiB, "MiB", besides(atRest)),
      most(
        "embedded, all services: 10 s after the load",
        targetsMiB.afterLoad,
        afterLoad.takenMiB,
        "MiB",
        besides(afterLoad),
      ),
      most("seven processes idle", targetsMiB.processes, all.takenMiB, "MiB", sizesOf(each, all.residentMiB)),
    ],
  };
}

async function embedded(): Promise<{ readonly atRest: Memory; readonly afterLoad: Memory }> {
  await using opened = new AsyncDisposableStack();
  const receiver = await createReceiver();
  opened.defer(() => receiver.close());
  const properties = { "webhook-delivery.outbound.allow": `127.0.0.1:${receiver.port}`, "log.level": "warn" };
  const system = await startEmbeddedSystem({ properties });
  opened.defer(async () => {
    await system.stop();
    await removeData(system);
  });
  const measured = async () => memoryOfEmbedded(await processTree(system.process.pid), system.dataDirectory);
  await sleep(restMs);
  const atRest = await measured();
  const doors = await openDoors(system, receiver.url);
  await Promise.all(doors.map(({ path, next }) => pacedLoad({ url: system.baseUrl + path, ...load, next })));
  await sleep(afterLoadMs);
  return { atRest, afterLoad: await measured() };
}

async function enginesIdle() {
  const system = await startEnginesSystem();
  try {
    await sleep(restMs);
    const pidOf = (name: ServiceName) => system.process(name).current.pid;
    const sizes = services.map(async (name) => [name, await memoryOf("Rss", [pidOf(name)])] as const);
    return { each: Object.fromEntries(await Promise.all(sizes)), all: await memoryOfServices(services.map(pidOf)) };
  } finally {
    await system.close();
  }
}

const sizesOf = (sizes: Readonly<Record<string, number>>, residentMiB: number): string =>
  `${residentMiB} MiB resident: ${Object.entries(sizes)
    .map(([name, size]) => `${name} ${size}`)
    .join(", ")}`;

/** Measures these processes of an embedded system and, apart from them, the database of its data folder. */
export async function memoryOfEmbedded(pids: readonly number[], dataDirectory: string): Promise<Memory> {
  const database = new Set(await processTree(await postmasterOf(dataDirectory)));
  const services = pids.filter((pid) => !database.has(pid));
  return { ...(await memoryOfServices(services)), postgresMiB: await memoryOf("Pss", [...database]) };
}

/** Measures processes of one program. */
async function memoryOfServices(pids: readonly number[]): Promise<Omit<Memory, "postgresMiB">> {
  const residentMiB = await memoryOf("Rss", pids);
  const ownMiB = await memoryOf("Anonymous", pids);
  const files = pids.map(async (pid) => (await memoryOf("Rss", [pid])) - (await memoryOf("Anonymous", [pid])));
  return { residentMiB, takenMiB: rounded(ownMiB + Math.max(0, ...(await Promise.all(files)))) };
}

async function postmasterOf(folder: string): Promise<number> {
  const text = await readFile(join(folder, "postgres", "data", "postmaster.pid"), "utf8");
  return Number(text.split("\n")[0]);
}
