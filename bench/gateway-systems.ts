import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { topics } from "@signalbox/contracts";
import { openEventLog } from "@signalbox/events";
import { environment } from "@signalbox/runtime";
import { eventually, freePort, testDatabase } from "@signalbox/testing";
import { benchParts } from "./bench-parts.ts";
import type { ServedGraph } from "./gateway-graphs.ts";

/** A gateway in a process of its own. */
export interface GatewayProcess {
  readonly url: string;
  readonly pid: number;
  close(): Promise<void>;
}

const scriptAt = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Starts Apollo's gateway and server with their defaults. */
export async function startApollo({ supergraphSdl }: ServedGraph): Promise<GatewayProcess> {
  await using opened = new AsyncDisposableStack();
  const file = await supergraphFile(opened, supergraphSdl);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/graphql`;
  const pid = start(opened, [scriptAt("./gateway-apollo.ts"), file, String(port)]);
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: '{"query":"{__typename}"}' };
  await eventually(async () => (await fetch(url, post)).ok, { message: "Apollo's gateway is ready" });
  const closes = opened.move();
  return { url, pid, close: () => closes.disposeAsync() };
}

/** Starts the gateway service as in production: with credentials, limits, costs and request log. */
export async function startOurs({
  supergraphSdl,
  urls,
}: ServedGraph): Promise<GatewayProcess & { readonly eventsUrl: string }> {
  await using opened = new AsyncDisposableStack();
  const file = await supergraphFile(opened, supergraphSdl);
  const events = await testDatabase();
  opened.defer(() => events.close());
  const eventsUrl = events.url.replace(/^postgres(ql)?:/, "postgres:");
  const log = await openEventLog(eventsUrl, { clientId: "bench", ...benchParts() });
  await log.ensureTopics(topics);
  await log.close();
  const ports = { http: await freePort(), internal: await freePort(), management: await freePort() };
  const pid = start(opened, [scriptAt("../services/gateway/src/main.ts")], {
    ...Object.fromEntries([...urls].map(([name, url]) => [`${name}.internal-url`, url])),
    "graphql.supergraph": file,
    "events.url": eventsUrl,
    "cache.url": "memory:",
    "internal.token": randomBytes(32).toString("base64url"),
    "http.port": String(ports.http),
    "internal.port": String(ports.internal),
    "management.server.port": String(ports.management),
    // The bench measures the work, not the rate limit.
    "http.rate-limit.credential.requests": "1000000",
    "http.rate-limit.credential.burst": "1000000",
    "http.rate-limit.account.requests": "1000000",
    // The load of one caller exceeds the cost limit of a credential: costs are computed for each operation, but none is
    // refused.
    "graphql.limits.mode": "measure",
  });
  const management = `http://127.0.0.1:${ports.management}/management/health/ready`;
  await eventually(async () => (await fetch(management)).ok, { message: "our gateway is ready" });
  const closes = opened.move();
  return { url: `http://127.0.0.1:${ports.http}/graphql`, pid, eventsUrl, close: () => closes.disposeAsync() };
}

async function supergraphFile(opened: AsyncDisposableStack, supergraphSdl: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, "supergraph.graphql");
  await writeFile(file, supergraphSdl);
  return file;
}

/**
 * Node's defaults in the containers of the chart, which have 512 MiB, and the heap settings of the gateway in
 * `infra/docker/run-service.sh`. By default Node takes 64 MiB twice for young objects here, and then scans all old ones
 * without a pause.
 */
const heapFlags = ["--max-old-space-size=256", "--max-semi-space-size=8", "--heap-growing-percent=100"];

/** Starts a process with the request log enabled and discarded. `BENCH_NODE_FLAGS` is for profiles: `--cpu-prof`. */
function start(
  opened: AsyncDisposableStack,
  args: readonly string[],
  properties: Readonly<Record<string, string>> = {},
): number {
  const variable = (name: string) => `SIGNALBOX_${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
  const own = Object.fromEntries(Object.entries(properties).map(([name, value]) => [variable(name), value]));
  const env = { ...environment(), ...own };
  const flags = environment().BENCH_NODE_FLAGS?.split(" ") ?? [];
  const child = spawn(process.execPath, [...heapFlags, ...flags, ...args], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  opened.defer(() => stop(child));
  return child.pid as number;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

/** Reads user and system time of all threads (proc(5), stat) in ticks, of which Linux has a hundred in a second. */
export async function cpuMicrosOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

export async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024);
}
