import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTcpProxy, startEngine, type TcpProxy, testS3 } from "@signalbox/testing";
import { services } from "../../systems/engines-system.ts";
import { freePorts } from "../../systems/free-ports.ts";
import { environmentOf, runCommand } from "../../systems/service-process.ts";
import { startEdge } from "../../systems/start-edge.ts";
import { createKafkaLog } from "../witnesses/kafka-log.ts";
import { startBalancer } from "./balancer.ts";
import { createQuery } from "./database.ts";
import { Instance } from "./instance.ts";
import { startKafkaCluster } from "./kafka-cluster.ts";
import type { Between, Engine, LedgerSystem } from "./ledger-system.ts";
import { ledgerProperties } from "./properties.ts";

type Service = (typeof services)[number];
type Side = (typeof sides)[number];
type Listener = (typeof listeners)[number];
const called = ["account", "images", "config", "webhook-ingest", "webhook-delivery"] as const;
const sides = [1, 2] as const;
const listeners = ["http", "internal", "management"] as const;
const databaseOf = (service: Service) => `signalbox_${service.replaceAll("-", "_")}`;

/** Closes what is handed to it, the last first, and gives it back. */
type Keep = <T extends { close(): Promise<void> }>(part: T) => T;

/** Two instances of each service on three brokers, PostgreSQL, Redis and S3, with nginx as the edge. */
export async function startEnginesLedger(issuer: string): Promise<LedgerSystem> {
  await using opened = new AsyncDisposableStack();
  const keep: Keep = (part) => {
    opened.defer(() => part.close());
    return part;
  };
  const staging = await mkdtemp(join(tmpdir(), "signalbox-ledger-"));
  opened.defer(() => rm(staging, { recursive: true, force: true }));
  const engines = await openEngines(keep);
  const { portOf, edge, internalUrls } = await openWays(keep);
  const shared = {
    ...ledgerProperties(issuer, staging),
    ...internalUrls,
    "internal.token": randomBytes(32).toString("base64url"),
    "secrets.keys": `k1:${randomBytes(32).toString("base64")}`,
    "http.base-url": edge.url,
    "http.trusted-proxies": "127.0.0.1",
  };
  const environment = (service: Service, side: Side) =>
    environmentOf({
      ...shared,
      ...engines.reached(side, databaseOf(service)),
      "http.port": String(portOf(service, side, "http")),
      "internal.port": String(portOf(service, side, "internal")),
      "management.server.port": String(portOf(service, side, "management")),
    });
  await runCommand("infra/kafka/topics.ts", [`--events.url=${engines.kafka.url}`]);
  const instances = everyInstance((service, side) => startInstance(service, side, portOf, environment(service, side)));
  opened.defer(async () => void (await Promise.all(instances.map((one) => one.kill()))));
  await Promise.all(instances.map((one) => one.ready()));
  const administratorKey = await runCommand("services/account/src/first-key-cli.ts", [], environment("account", 1));
  const closes = opened.move();
  return {
    ...{ mode: "engines", baseUrl: edge.url, administratorKey, instances },
    query: createQuery(engines.databaseUrl),
    databases: new Map(called.map((service) => [service, databaseOf(service)])),
    log: createKafkaLog(engines.kafka.addresses),
    ...{ postgres: engines.postgres, kafka: engines.kafka, redis: engines.redis, objects: engines.objects },
    between: engines.between,
    blobDisk: null,
    stagingFolder: staging,
    beginAgain: null,
    close: () => closes.disposeAsync(),
  };
}

const everyInstance = <T>(make: (service: Service, side: Side) => T): T[] =>
  services.flatMap((service) => sides.map((side) => make(service, side)));

/** The ports of all instances, and what leads to both instances of a service: the edge, and a balancer for each internal one. */
async function openWays(keep: Keep) {
  const names = everyInstance((service, side) => listeners.map((listener) => `${service}-${side} ${listener}`)).flat();
  const ports = await freePorts(names);
  const portOf = (service: Service, side: Side, listener: Listener) =>
    ports.get(`${service}-${side} ${listener}`) as number;
  const upstreams = services.map((service) => [
    service,
    sides.map((side) => `127.0.0.1:${portOf(service, side, "http")}`),
  ]);
  const edge = keep(await startEdge(Object.fromEntries(upstreams)));
  const internalUrls: Record<string, string> = {};
  for (const service of called) {
    const balancer = keep(await startBalancer(sides.map((side) => portOf(service, side, "internal"))));
    internalUrls[`${service}.internal-url`] = `http://127.0.0.1:${balancer.port}`;
  }
  return { portOf, edge, internalUrls };
}

function startInstance(
  service: Service,
  side: Side,
  portOf: (service: Service, side: Side, listener: Listener) => number,
  environment: Readonly<Record<string, string>>,
): Instance {
  return new Instance({
    name: `${service}-${side}`,
    service,
    script: fileURLToPath(new URL(`../../../services/${service}/src/main.ts`, import.meta.url)),
    args: [],
    environment,
    url: `http://127.0.0.1:${portOf(service, side, "http")}`,
    managementUrl: `http://127.0.0.1:${portOf(service, side, "management")}`,
  });
}

/** The engines, and how each side reaches them: the first directly, the second through proxies. */
async function openEngines(keep: Keep) {
  const [postgres, redis, kafka, s3] = await Promise.all([
    startEngine("postgres").then(keep),
    startEngine("redis").then(keep),
    startKafkaCluster().then(keep),
    testS3(),
  ]);
  const proxyOf = async (url: string) => keep(await createTcpProxy({ port: Number(new URL(url).port) }));
  const s3Proxies = [await proxyOf(s3.origin), await proxyOf(s3.origin)] as const;
  const databaseProxy = await proxyOf(postgres.url);
  const redisProxy = await proxyOf(redis.url);
  const databaseUrl = (database: string) => {
    const url = new URL(postgres.url);
    url.pathname = `/${database}`;
    return url.href;
  };
  const reached = (side: Side, database: string) => ({
    "database.url": side === 1 ? databaseUrl(database) : databaseProxy.urlFor(databaseUrl(database)),
    "events.url": side === 1 ? kafka.url : kafka.proxiedUrl,
    "cache.url": side === 1 ? redis.url : redisProxy.urlFor(redis.url),
    "blobs.url": s3Proxies[side - 1]?.urlFor(s3.url) as string,
    "blobs.access-key": s3.accessKey,
    "blobs.secret-key": s3.secretKey,
  });
  // The object store of all tests is not ours to kill: it refuses us.
  const objects: Engine = {
    kill: async () => void (await Promise.all(s3Proxies.map((proxy) => proxy.refuse()))),
    restart: async () => void (await Promise.all(s3Proxies.map((proxy) => proxy.accept()))),
  };
  const proxies = [databaseProxy, redisProxy, s3Proxies[1], ...kafka.proxies];
  return { postgres, redis, kafka, objects, databaseUrl, reached, between: betweenOf(proxies) };
}

/** What can be done to the connections of the second instances, to all engines at once. */
function betweenOf(proxies: readonly TcpProxy[]): Between {
  const toEach = (act: (proxy: TcpProxy) => void) => {
    for (const proxy of proxies) act(proxy);
  };
  return {
    hold: () => toEach((proxy) => proxy.pause()),
    release: () => toEach((proxy) => proxy.resume()),
    setLatency: (milliseconds) => toEach((proxy) => proxy.setLatency(milliseconds)),
    instances: services.map((service) => `${service}-2`),
  };
}
