import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { topics } from "@signalbox/contracts";
import { openEventLog } from "@signalbox/events";
import { startPostgres } from "@signalbox/infra/engines/index.ts";
import { openPool, sql } from "@signalbox/storage";
import {
  createSender,
  eventually,
  freePort,
  internalToken,
  startAccountStandIn,
  startProcess,
  type TestPerson,
  type TestProcess,
  testPerson,
} from "@signalbox/testing";
import { benchParts } from "./bench-parts.ts";
import { startSink } from "./delivery.ts";
import type { BenchSource, IngestLoad, IngestLoadResult } from "./ingest-load.ts";

const mainOf = (service: string) => fileURLToPath(new URL(`../services/${service}/src/main.ts`, import.meta.url));
const loadFile = new URL("./ingest-load.ts", import.meta.url);

/** A system with one account, its sources, and an endpoint that posts to a sink. */
export type IngestSystem = Awaited<ReturnType<typeof startIngestSystem>>;

export async function startIngestSystem(opened: AsyncDisposableStack, engines?: Engines) {
  const { sink, server, ...surroundings } = await startSurroundings(opened, engines);
  const start = (name: string) => startService(name, { server, ...surroundings }, opened);
  const ingest = await start("webhook-ingest");
  const who = testPerson();
  const send = createSender(ingest.origin);
  const sources = async (forward: boolean) =>
    Promise.all(["github", "stripe", "github", "stripe"].map((scheme) => newSource(send, who, { scheme, forward })));
  const url = `${sink.url}/0`;
  const bare = await startBare(server.url("bare"), opened);
  return {
    bare,
    ingest,
    sink,
    quiet: await sources(false),
    forwarding: await sources(true),
    pool: openPool({
      url: server.url("webhook_ingest"),
      max: 2,
      applicationName: "bench",
      ...benchParts(),
      runner: { defer: () => {} },
    }),
    load: startLoad(opened, ingest.origin),
    flood: startLoad(opened, ingest.origin),
    startLoad: (origin: string) => startLoad(opened, origin),
    /** Starts one more process of the service. */
    startAnother: () => start("webhook-ingest"),
    /** Starts the deliveries, which take processor time too. */
    async startDelivering(): Promise<void> {
      const delivery = await start("webhook-delivery");
      const body = { url, event_types: ["webhook.received"] };
      await createSender(delivery.origin)(who, "POST", "/api/v1/webhooks/endpoints", { body });
    },
  };
}

/** A system whose accounts publish events to a sink. */
export async function startPublishSystem(opened: AsyncDisposableStack, engines?: Engines) {
  const { sink, server, ...surroundings } = await startSurroundings(opened, engines);
  const startAnother = () => startService("webhook-delivery", { server, ...surroundings }, opened);
  const delivery = await startAnother();
  return { sink, delivery, startAnother, databaseUrl: server.url("webhook_delivery") };
}

/** Addresses of the engines; without them the services use what an embedded system does. */
interface Engines {
  readonly eventsUrl: string;
  readonly cacheUrl: string;
}

interface Surroundings extends Engines {
  readonly server: { url(database: string): string };
  readonly account: { readonly url: string };
}

/** Starts what the services need: databases, the topics, an account and a sink. */
async function startSurroundings(opened: AsyncDisposableStack, engines?: Engines) {
  const [server, account] = [await ownServer(opened), await startAccountStandIn()];
  opened.defer(() => account.close());
  const { eventsUrl, cacheUrl } = engines ?? { eventsUrl: server.url("events"), cacheUrl: "memory:" };
  const eventLog = await openEventLog(eventsUrl, { clientId: "bench", ...benchParts() });
  await eventLog.ensureTopics(topics);
  await eventLog.close();
  const sink = await startSink();
  opened.defer(() => sink.close());
  return { server, account, sink, eventsUrl, cacheUrl };
}

/** Starts a PostgreSQL that flushes every commit, unlike that of the tests. */
async function ownServer(opened: AsyncDisposableStack) {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  await chmod(folder, 0o755);
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const server = await startPostgres({ folder: join(folder, "postgres"), durable: true });
  opened.defer(() => server.stop());
  const pool = openPool({
    url: server.url("postgres"),
    max: 1,
    applicationName: "bench",
    ...benchParts(),
    runner: { defer: () => {} },
  });
  for (const name of ["events", "webhook_ingest", "webhook_delivery", "bare"])
    await pool.query(sql("", `create database ${name}`));
  await pool.close();
  return server;
}

/** Starts the baseline, with its only source. */
async function startBare(url: string, opened: AsyncDisposableStack) {
  const secret = randomBytes(24).toString("hex");
  const child = fork(fileURLToPath(new URL("./bare-ingest.ts", import.meta.url)), [url, secret]);
  opened.defer(() => child.disconnect());
  const [origin] = (await once(child, "message")) as [string];
  const source: BenchSource = { path: "/", scheme: "github", secret };
  return { origin, sources: [source], pid: child.pid ?? 0 };
}

interface Started extends TestProcess {
  readonly origin: string;
}

async function startService(
  name: string,
  { server, account, eventsUrl, cacheUrl }: Surroundings,
  opened: AsyncDisposableStack,
): Promise<Started> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const started = startProcess(mainOf(name), [], {
    SIGNALBOX_DATABASE_URL: server.url(name.replace("-", "_")),
    SIGNALBOX_EVENTS_URL: eventsUrl,
    SIGNALBOX_CACHE_URL: cacheUrl,
    SIGNALBOX_INTERNAL_TOKEN: internalToken,
    SIGNALBOX_ACCOUNT_INTERNAL_URL: account.url,
    SIGNALBOX_SECRETS_KEYS: `bench:${Buffer.alloc(32, 7).toString("base64")}`,
    SIGNALBOX_HTTP_PORT: String(port),
    SIGNALBOX_HTTP_TRUSTED_PROXIES: "127.0.0.1",
    SIGNALBOX_MANAGEMENT_SERVER_PORT: String(await freePort()),
    SIGNALBOX_WEBHOOK_DELIVERY_OUTBOUND_ALLOW: "127.0.0.1:*",
    // The bench measures the work, not the rate limit.
    SIGNALBOX_HTTP_RATE_LIMIT_CREDENTIAL_REQUESTS: "1000000",
    SIGNALBOX_HTTP_RATE_LIMIT_CREDENTIAL_BURST: "1000000",
    SIGNALBOX_HTTP_RATE_LIMIT_ACCOUNT_REQUESTS: "1000000",
    SIGNALBOX_LOG_LEVEL: "warn",
    LOG_LEVEL: "warn",
  });
  opened.defer(async () => void (await started.kill()));
  const send = createSender(origin);
  const path = name === "webhook-ingest" ? "/api/v1/webhooks/sources" : "/api/v1/webhooks/endpoints";
  await eventually(async () => (await send(testPerson(), "GET", path)).status === 200);
  return Object.assign(started, { origin });
}

async function newSource(
  send: ReturnType<typeof createSender>,
  who: TestPerson,
  { scheme, forward }: { readonly scheme: string; readonly forward: boolean },
): Promise<BenchSource> {
  const secret = `whsec_${randomBytes(24).toString("hex")}`;
  const body = { name: "Bench", scheme, secret, forward };
  const { ingest_path: path } = (await send(who, "POST", "/api/v1/webhooks/sources", { body })).body;
  return { path, scheme: scheme as BenchSource["scheme"], secret };
}

function startLoad(opened: AsyncDisposableStack, origin: string) {
  const child: ChildProcess = fork(loadFile, { serialization: "advanced" });
  opened.defer(() => child.disconnect());
  return async (
    load: Omit<IngestLoad, "origin" | "connections" | "seconds"> & Partial<IngestLoad>,
  ): Promise<IngestLoadResult> => {
    child.send({ origin, connections: 64, seconds: 10, ...load });
    const [result] = (await once(child, "message")) as [IngestLoadResult];
    return result;
  };
}
