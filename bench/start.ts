import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { minutes, seconds } from "@signalbox/core";
import { processTree } from "@signalbox/infra/engines/processes.ts";
import { createReceiver, startProcess } from "@signalbox/testing";
import { createClient, expectStatus, githubHeaders } from "../test-e2e/journey/client.ts";
import { type EmbeddedSystem, removeData, startEmbeddedSystem } from "../test-e2e/systems/embedded-system.ts";
import { type BenchResult, most } from "./history.ts";
import { type LoadRequest, median, memoryOf, rounded, successes, timed } from "./measure.ts";
import { newFolder, paidOrder } from "./systems.ts";

const warmStarts = 5;
/** Long enough for what a start leaves behind to be collected. */
const restMs = minutes(1);
const afterLoadMs = seconds(10);
/** Below every limit of one account, together. */
const load = { perSecond: 40, seconds: 60, connections: 32 };

export async function run(): Promise<BenchResult> {
  const { bareMs, firstMs, warmMs } = await measureStarts();
  const { atRest, afterLoad } = await measureMemory();
  const besides = ({ residentMiB, postgresMiB }: typeof atRest) =>
    `${residentMiB} MiB resident; PostgreSQL ${postgresMiB} MiB besides`;
  return {
    rows: [
      { what: "an empty Node", readyMs: bareMs },
      { what: "first start, empty folder", readyMs: firstMs },
      { what: `warm start, median of ${warmStarts}`, readyMs: warmMs },
      { what: "embedded, at rest", ...atRest },
      { what: "embedded, 10 s after the load", ...afterLoad },
    ],
    figures: [
      most("warm start", 3_000, warmMs, "ms", `an empty Node ${bareMs} ms`),
      most("embedded, all services: at rest", 260, atRest.takenMiB, "MiB", besides(atRest)),
      most("embedded, all services: 10 s after the load", 500, afterLoad.takenMiB, "MiB", besides(afterLoad)),
    ],
  };
}

async function measureStarts() {
  await using opened = new AsyncDisposableStack();
  const parent = await newFolder(opened);
  await chmod(parent, 0o755);
  const bareMs = await timed(() => startProcess("--eval=0").exited);
  const firstMs = await startMs(join(parent, "data"));
  const warmMs: number[] = [];
  while (warmMs.length < warmStarts) warmMs.push(await startMs(join(parent, "data")));
  return { bareMs: Math.round(bareMs), firstMs: Math.round(firstMs), warmMs: Math.round(median(warmMs)) };
}

/** Starts as `npm start` does, until every service serves. */
async function startMs(folder: string): Promise<number> {
  const ports = ["http.port", "internal.port", "management.server.port"].map((name) => `--${name}=0`);
  const task = fileURLToPath(new URL("../infra/tasks/run.mjs", import.meta.url));
  const process = startProcess(task, ["infra/embedded/start.ts", `--embedded.data-directory=${folder}`, ...ports]);
  const tookMs = await timed(() => process.waitForOutput(/Ctrl-C stops it/, 120_000));
  process.signal("SIGTERM");
  await process.exited;
  return tookMs;
}

/** Measures the memory of the embedded system, at rest and after a minute of load. */
async function measureMemory() {
  await using opened = new AsyncDisposableStack();
  const receiver = await createReceiver();
  opened.defer(() => receiver.close());
  const system = await startEmbeddedSystem({
    properties: { "webhook-delivery.outbound.allow": `127.0.0.1:${receiver.port}`, "log.level": "warn" },
  });
  opened.defer(async () => {
    await system.stop();
    await removeData(system);
  });
  await sleep(restMs);
  const atRest = await memoryNow(system);
  const doors = await openDoors(system, receiver.url);
  await Promise.all(doors.map((next) => successes({ origin: system.baseUrl, ...load, next })));
  await sleep(afterLoadMs);
  return { atRest, afterLoad: await memoryNow(system) };
}

const query =
  "{ viewer { account { id } images(first: 10) { nodes { id } } webhookEndpoints(first: 10) { nodes { id } } } }";

/** Creates an endpoint and a source, and returns the requests of the load: to publish, to ingest, and to the graph. */
async function openDoors({ baseUrl, apiKey }: EmbeddedSystem, url: string): Promise<(() => LoadRequest)[]> {
  const send = createClient(baseUrl, apiKey);
  const endpoint = { url, event_types: ["order.paid", "received.github.*"] };
  expectStatus(await send("/api/v1/webhooks/endpoints", { body: endpoint }), 201);
  const secret = "a-secret-of-the-bench-01";
  const source = { name: "Bench", scheme: "github", secret };
  const { ingest_path: path } = expectStatus(await send("/api/v1/webhooks/sources", { body: source }), 201).json;
  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  const post = (path: string, body: object) => ({ method: "POST", path, headers, body: JSON.stringify(body) }) as const;
  return [
    () => post("/api/v1/webhooks/events", paidOrder(crypto.randomUUID())),
    () => {
      const body = JSON.stringify(paidOrder(crypto.randomUUID()));
      return { method: "POST", path, headers: githubHeaders(secret, body), body };
    },
    () => post("/graphql", { query }),
  ];
}

/**
 * Measures the processes of the services and, apart from them, the database. `takenMiB` is the share of the machine:
 * pages of files that processes have in common, of Node's program above all, count once.
 */
async function memoryNow({ process, dataDirectory }: EmbeddedSystem) {
  const postmaster = await readFile(join(dataDirectory, "postgres", "data", "postmaster.pid"), "utf8");
  const database = await processTree(Number(postmaster.split("\n")[0]));
  const services = (await processTree(process.pid)).filter((pid) => !database.includes(pid));
  const files = services.map(async (pid) => (await memoryOf("Rss", [pid])) - (await memoryOf("Anonymous", [pid])));
  const sharedMiB = Math.max(0, ...(await Promise.all(files)));
  return {
    residentMiB: await memoryOf("Rss", services),
    takenMiB: rounded((await memoryOf("Anonymous", services)) + sharedMiB),
    // Proportional: buffers shared by its processes are counted once.
    postgresMiB: await memoryOf("Pss", database),
  };
}
