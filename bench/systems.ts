import { type ChildProcess, fork, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { topics } from "@signalbox/contracts";
import { type ServiceName, systemClock } from "@signalbox/core";
import { type EventLog, openEventLog } from "@signalbox/events";
import { startPostgres } from "@signalbox/infra/engines/postgres/start-postgres.ts";
import { createLogger, createMetrics, createTracer, environment } from "@signalbox/runtime";
import { openPool, type Pool, sql } from "@signalbox/storage";
import { createSender, eventually, freePort, startAccountStandIn, type TestPerson } from "@signalbox/testing";
import { environmentOf } from "../test-e2e/systems/service-process.ts";
import type { LoadRequest } from "./measure.ts";

/** Creates the parts that the libraries need: real ones, with discarded log lines. */
export function benchParts() {
  return {
    log: createLogger({ service: "images", instance: "bench", level: "info", destination: { write: () => {} } }),
    metrics: createMetrics({ service: "images" }),
    tracer: createTracer("images"),
    clock: systemClock,
  };
}

export const benchPool = (url: string, max = 2): Pool =>
  openPool({
    ...benchParts(),
    runner: { defer: () => {} },
    url,
    max,
    applicationName: "bench",
    statementTimeoutMs: 3_600_000,
  });

/** The engines of a bench, and the start of services on them. */
export interface Surroundings {
  readonly eventLog: EventLog;
  /** A database of this server: `events`, `bare`, or named like a service. */
  databaseUrl(name: string): string;
  /** Starts a service in a process of its own, with the request log discarded, and waits until it is ready. */
  start(name: ServiceName, properties?: Readonly<Record<string, string>>): Promise<BenchService>;
}

export interface BenchService {
  readonly origin: string;
  readonly managementUrl: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a PostgreSQL that flushes every commit, unlike that of the tests, with the topics and an account. */
export async function openSurroundings(opened: AsyncDisposableStack): Promise<Surroundings> {
  const folder = await newFolder(opened);
  await chmod(folder, 0o755);
  const server = await startPostgres({ folder: join(folder, "postgres"), durable: true });
  opened.defer(() => server.stop());
  const pool = benchPool(server.url("postgres"));
  for (const name of ["events", "webhook-ingest", "webhook-delivery", "images", "config", "gateway", "bare"])
    await pool.query(sql("", `create database "${name}"`));
  await pool.close();
  const account = await startAccountStandIn();
  opened.defer(() => account.close());
  const eventLog = await openEventLog(server.url("events"), { clientId: "bench", ...benchParts() });
  opened.defer(() => eventLog.close());
  await eventLog.ensureTopics(topics);
  const shared = {
    "events.url": server.url("events"),
    "cache.url": "memory:",
    "account.internal-url": account.url,
    "internal.token": randomBytes(32).toString("base64url"),
    "secrets.keys": `bench:${randomBytes(32).toString("base64")}`,
    // The bench measures the work, not the rate limit.
    "http.rate-limit.credential.requests": "1000000",
    "http.rate-limit.credential.burst": "1000000",
    "http.rate-limit.account.requests": "1000000",
  };
  return {
    eventLog,
    databaseUrl: server.url,
    start: (name, properties) =>
      startService(opened, name, { ...shared, "database.url": server.url(name), ...properties }),
  };
}

async function startService(
  opened: AsyncDisposableStack,
  name: ServiceName,
  properties: Readonly<Record<string, string>>,
): Promise<BenchService> {
  const [http, internal, management] = [await freePort(), await freePort(), await freePort()].map(String);
  const ports = { "http.port": http, "internal.port": internal, "management.server.port": management };
  const own = environmentOf({ ...properties, ...ports } as Record<string, string>);
  const { pid, stop } = startScript(opened, `../services/${name}/src/main.ts`, [], own);
  const managementUrl = `http://127.0.0.1:${management}/management`;
  const isReady = async () => (await fetch(`${managementUrl}/health/ready`)).ok;
  await eventually(isReady, { timeoutMs: 60_000, message: `${name} is ready` });
  return { origin: `http://127.0.0.1:${http}`, managementUrl, pid, stop };
}

/**
 * Node's defaults in the containers of the chart, which have 512 MiB, and the heap settings of the gateway in
 * `infra/docker/run-service.sh`. By default Node takes 64 MiB twice for young objects here, and then scans all old ones
 * without a pause.
 */
const gatewayFlags = ["--max-old-space-size=256", "--max-semi-space-size=8", "--heap-growing-percent=100"];

/** Starts a script whose output is discarded, but for errors. `BENCH_NODE_FLAGS` is for profiles: `--cpu-prof`. */
export function startScript(
  opened: AsyncDisposableStack,
  path: string,
  args: readonly string[] = [],
  own: Readonly<Record<string, string>> = {},
): { readonly pid: number; stop(): Promise<void> } {
  const flags = [
    ...(path.includes("gateway") ? gatewayFlags : []),
    ...(environment().BENCH_NODE_FLAGS?.split(" ") ?? []),
  ];
  const script = fileURLToPath(new URL(path, import.meta.url));
  const child = spawn(process.execPath, [...flags, script, ...args], {
    env: { ...environment(), ...own },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const stop = async () => {
    if (child.exitCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  };
  opened.defer(stop);
  return { pid: child.pid as number, stop };
}

/** Forks a file of `processes/`, which ends with its parent, and returns it with its first message. */
export async function forked<T>(opened: AsyncDisposableStack, name: string, args: readonly string[] = []) {
  const script = new URL(`./processes/${name}.ts`, import.meta.url);
  const child: ChildProcess = fork(script, args, { serialization: "advanced" });
  opened.defer(() => void (child.connected && child.disconnect()));
  return { child, pid: child.pid as number, first: await answerOf<T>(child) };
}

/** The next message of a child, after this one to it. */
export async function answerOf<T>(child: ChildProcess, message?: object | string): Promise<T> {
  if (message !== undefined) child.send(message);
  const [answer] = (await once(child, "message")) as [T];
  return answer;
}

export async function newFolder(opened: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The receivers of a bench. */
export interface Sink {
  readonly url: string;
  count(): Promise<number>;
  /** Returns the arrivals since the last call. */
  take(): Promise<{ id: string; atMs: number }[]>;
}

/** Starts receivers in a process of their own, also at other local addresses. */
export async function startSink(opened: AsyncDisposableStack, hosts: readonly string[] = []): Promise<Sink> {
  const { child, first: port } = await forked<number>(opened, "sink", hosts);
  return {
    url: `http://127.0.0.1:${port}`,
    count: () => answerOf(child, "count"),
    take: () => answerOf(child, "take"),
  };
}

export const endpointsPath = "/api/v1/webhooks/endpoints";
export const eventsPath = "/api/v1/webhooks/events";

/** Creates an endpoint of a person and returns its id. */
export async function addEndpoint(origin: string, who: TestPerson, body: Readonly<Record<string, unknown>>) {
  const made = await createSender(origin)(who, "POST", endpointsPath, {
    body: { event_types: ["order.paid"], ...body },
  });
  if (made.status !== 201) throw new Error(`an endpoint was answered ${made.status}: ${made.text}`);
  return made.body.id as string;
}

const filling = "x".repeat(900);

/** Builds an event of 1 KB. */
export const paidOrder = (id: string, data: object = {}) => ({ id, type: "order.paid", data: { ...data, filling } });

/** Builds the request that publishes one. */
export function publication({ headers }: TestPerson, id: string, data?: object): LoadRequest {
  const body = JSON.stringify(paidOrder(id, data));
  return { method: "POST", path: eventsPath, headers: { ...headers, "content-type": "application/json" }, body };
}
