import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { environment } from "@signalbox/config";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { processTree } from "@signalbox/infra/engines/processes.ts";
import { createReceiver, eventually, freePort, readFixture, startEngine } from "@signalbox/testing";
import { signedWebhook } from "../test-e2e/faults/scene.ts";
import { type Answer, type Client, createClient, expectStatus } from "../test-e2e/journey/client.ts";
import { startProbe } from "../test-e2e/observe/start-probe.ts";
import { startPrometheus } from "../test-e2e/observe/start-prometheus.ts";
import { memoryOf, rounded } from "./bench-parts.ts";
import { type BenchResult, most } from "./history.ts";

const perSecond = 30;
const wantedMiB = 1_024;

/** Each part of the deployment with its processes. */
type Parts = Readonly<Record<string, () => Promise<number[]>>>;

/**
 * The processes of compose.small.yml with its profile `observe`, outside of containers, with the flags of the image: at
 * some tens of requests a second, of every kind. Grafana is in no package here and is left out.
 */
export async function run({ seconds = 120 }: { readonly seconds?: number } = {}): Promise<BenchResult> {
  await using opened = new AsyncDisposableStack();
  const postgres = await startEngine("postgres");
  opened.defer(() => postgres.close());
  const small = await startSmall(opened, postgres.url);
  const probe = await startProbe([`${small.baseUrl}/graphql`, `${small.baseUrl}/images`]);
  opened.defer(() => probe.close());
  const prometheus = await startPrometheus(new Map([["signalbox", small.managementUrl]]), [probe.job]);
  opened.defer(() => prometheus.close());
  const parts: Parts = {
    "all services": () => processTree(small.pid),
    PostgreSQL: () => postgres.processes(),
    Prometheus: () => prometheus.processes(),
    "blackbox exporter": () => processTree(probe.pid),
  };
  const idle = await memoryOfAll(parts);
  const ended = new AbortController();
  const watching = watch(parts, ended.signal);
  const answered = await callers(opened, createClient(small.baseUrl, small.apiKey), seconds);
  ended.abort();
  const largest = await watching;
  const total = (sizes: Sizes) => rounded(Object.values(sizes).reduce((sum, size) => sum + size, 0));
  return {
    rows: Object.keys(parts).map((part) => ({ part, idleMiB: idle[part], largestMiB: largest[part] })),
    figures: [
      most(
        `small deployment at ${perSecond} requests a second, with Prometheus: memory of all processes`,
        wantedMiB,
        total(largest),
        "MiB",
        `idle ${total(idle)} MiB, ${answered}`,
      ),
    ],
  };
}

type Sizes = Record<string, number>;

async function memoryOfAll(parts: Parts): Promise<Sizes> {
  const sizes: Sizes = {};
  // Proportional: pages shared by processes are counted once.
  for (const [part, processes] of Object.entries(parts)) sizes[part] = await memoryOf("Pss", await processes());
  return sizes;
}

/** Keeps the sizes of the moment at which all together were the largest. */
async function watch(parts: Parts, ended: AbortSignal): Promise<Sizes> {
  const sum = (sizes: Sizes) => Object.values(sizes).reduce((total, size) => total + size, 0);
  let largest: Sizes = {};
  while (!ended.aborted) {
    const sizes = await memoryOfAll(parts);
    if (sum(sizes) > sum(largest)) largest = sizes;
    await sleep(1_000, undefined, { signal: ended }).catch(() => {});
  }
  return largest;
}

/** The environment that infra/docker/run-service.sh sets. */
const ofImage = {
  NODE_ENV: "production",
  NODE_OPTIONS: "--max-semi-space-size=4",
  MALLOC_ARENA_MAX: "2",
  MALLOC_TRIM_THRESHOLD_: "131072",
};

async function startSmall(opened: AsyncDisposableStack, databaseUrl: string) {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-small-"));
  await chmod(folder, 0o755);
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const [http, management] = await Promise.all([freePort(), freePort()]);
  const properties = {
    "embedded.data-directory": folder,
    "embedded.database-url": new URL("/", databaseUrl).href.replace(/\/$/, ""),
    "http.port": String(http),
    "internal.port": "0",
    "management.server.port": String(management),
    "webhook-delivery.outbound.allow": "127.0.0.1:*",
  };
  const args = Object.entries(properties).map(([name, value]) => `--${name}=${value}`);
  const child = spawn(process.execPath, ["infra/embedded/start.ts", ...args], {
    cwd: repositoryFolder,
    env: { ...environment(), ...ofImage },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  opened.defer(async () => void (child.kill("SIGTERM") && (await exited)));
  const managementUrl = `http://127.0.0.1:${management}`;
  const isReady = async () => (await fetch(`${managementUrl}/management/health/ready`).catch(() => null))?.ok ?? false;
  await eventually(isReady, { timeoutMs: 180_000, message: "the small deployment is ready" });
  const apiKey = (await readFile(join(folder, "first-key"), "utf8")).trim();
  return { pid: child.pid as number, baseUrl: `http://127.0.0.1:${http}`, managementUrl, apiKey };
}

/** Sends requests of every kind at even intervals, and returns how many there were and how many were refused. */
async function callers(opened: AsyncDisposableStack, send: Client, seconds: number): Promise<string> {
  const receiver = await createReceiver();
  opened.defer(() => receiver.close());
  const endpoint = { url: receiver.url, event_types: ["image.*", "webhook.received"] };
  expectStatus(await send("/api/v1/webhooks/endpoints", { body: endpoint }), 201);
  const secret = `whsec_${randomBytes(24).toString("base64")}`;
  const source = { name: "Partner", scheme: "standard-webhooks", secret };
  const sourceId = expectStatus(await send("/api/v1/webhooks/sources", { body: source }), 201).json.id;
  const photo = await readFixture("photo.jpg");
  const upload = () => {
    const form = new FormData();
    form.set("file", new Blob([photo], { type: "image/jpeg" }), "photo.jpg");
    return send("/images", { body: form });
  };
  const imageId = expectStatus(await upload(), 201).json.id;
  const isRendered = async () => (await send(`/images/${imageId}`)).json.status === "ready";
  await eventually(isRendered, { message: "the first image is rendered" });
  const webhook = () => send(`/ingest/${sourceId}`, signedWebhook(crypto.randomUUID(), secret));
  // Each its own: of two changes of one image at a time the second is refused.
  const others = await Promise.all(Array.from({ length: 40 }, upload));
  let turn = 0;
  const retitle = () => {
    const { id } = expectStatus(others[turn++ % others.length] as Answer, 201).json;
    return send(`/images/${id}`, { method: "PATCH", body: { title: crypto.randomUUID() } });
  };
  // Of thirty requests one is an upload, five are webhooks of a partner, four are changes; the others read.
  const kinds = [upload, ...Array(5).fill(webhook), ...Array(4).fill(retitle)] as (() => ReturnType<Client>)[];
  const reads = ["/images", `/images/${imageId}`, "/graphql?query={viewer{id}}", `/images/${imageId}/content?width=64`];
  const startedMs = performance.now();
  const answers: ReturnType<Client>[] = [];
  while (answers.length < seconds * perSecond) {
    const next = answers.length;
    const kind = kinds[next % perSecond] ?? (() => send(reads[next % reads.length] as string));
    answers.push(kind());
    await sleep(Math.max(0, startedMs + (answers.length * 1_000) / perSecond - performance.now()));
  }
  const refused = (await Promise.all(answers)).filter(({ status }) => status >= 400);
  if (refused.length > answers.length / 100) throw new Error(`refused ${refused.length}: ${refused[0]?.bytes}`);
  return `${answers.length} requests, ${refused.length} refused`;
}
