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
import type { Engine, LedgerSystem } from "./ledger-system.ts";
import { ledgerProperties } from "./properties.ts";

type Service = (typeof services)[number];
const called = ["account", "images", "config", "webhook-ingest", "webhook-delivery"] as const;
const sides = [1, 2] as const;
const listeners = ["http", "internal", "management"] as const;
const databaseOf = (service: Service) => `signalbox_${service.replaceAll("-", "_")}`;

/** Two instances of each service on three brokers, PostgreSQL, Redis and S3, with nginx as the edge. */
export async function startEnginesLedger(issuer: string): Promise<LedgerSystem> {
  await using opened = new AsyncDisposableStack();
  const keep = <T extends { close(): Promise<void> }>(part: T): T => {
    opened.defer(() => part.close());
    return part;
  };
  const staging = await mkdtemp(join(tmpdir(), "signalbox-ledger-"));
  opened.defer(() => rm(staging, { recursive: true, force: true }));
  const engines = await openEngines(keep);
  const names = services.flatMap((service) => sides.map((side) => `${service}-${side}`));
  const ports = await freePorts(names.flatMap((name) => listeners.map((listener) => `${name} ${listener}`)));
  const portOf = (service: string, side: number, listener: (typeof listeners)[number]) =>
    ports.get(`${service}-${side} ${listener}`) as number;
  const edge = keep(
    await startEdge(
      Object.fromEntries(
        services.map((service) => [service, sides.map((side) => `127.0.0.1:${portOf(service, side, "http")}`)]),
      ),
    ),
  );
  const internal = await Promise.all(
    called.map(async (service) => {
      const balancer = keep(await startBalancer(sides.map((side) => portOf(service, side, "internal"))));
      return [`${service}.internal-url`, `http://127.0.0.1:${balancer.port}`] as const;
    }),
  );
  const shared = {
    ...ledgerProperties(issuer, staging),
    ...Object.fromEntries(internal),
    "internal.token": randomBytes(32).toString("base64url"),
    "secrets.keys": `k1:${randomBytes(32).toString("base64")}`,
    "http.base-url": edge.url,
    "http.trusted-proxies": "127.0.0.1",
  };
  const environment = (service: Service, side: (typeof sides)[number]) =>
    environmentOf({
      ...shared,
      ...engines.reached(side, databaseOf(service)),
      "http.port": String(portOf(service, side, "http")),
      "internal.port": String(portOf(service, side, "internal")),
      "management.server.port": String(portOf(service, side, "management")),
    });
  await runCommand("infra/kafka/topics.ts", [`--events.url=${engines.kafka.url}`]);
  const instances = services.flatMap((service) =>
    sides.map(
      (side) =>
        new Instance({
          name: `${service}-${side}`,
          service,
          script: fileURLToPath(new URL(`../../../services/${service}/src/main.ts`, import.meta.url)),
          args: [],
          environment: environment(service, side),
          url: `http://127.0.0.1:${portOf(service, side, "http")}`,
          managementUrl: `http://127.0.0.1:${portOf(service, side, "management")}`,
        }),
    ),
  );
  opened.defer(async () => void (await Promise.all(instances.map((one) => one.kill()))));
  await Promise.all(instances.map((one) => one.ready()));
  const administratorKey = await runCommand("services/account/src/first-key-cli.ts", [], environment("account", 1));
  const closes = opened.move();
  return {
    mode: "engines",
    baseUrl: edge.url,
    administratorKey,
    instances,
    query: createQuery(engines.databaseUrl),
    databases: new Map(called.map((service) => [service, databaseOf(service)])),
    log: createKafkaLog(engines.kafka.addresses),
    postgres: engines.postgres,
    kafka: engines.kafka,
    redis: engines.redis,
    objects: engines.objects,
    between: {
      hold: () => {
        for (const proxy of engines.between) proxy.pause();
      },
      release: () => {
        for (const proxy of engines.between) proxy.resume();
      },
      setLatency: (milliseconds) => {
        for (const proxy of engines.between) proxy.setLatency(milliseconds);
      },
      instances: services.map((service) => `${service}-2`),
    },
    blobDisk: null,
    stagingFolder: staging,
    beginAgain: null,
    close: () => closes.disposeAsync(),
  };
}

/** The engines, and how each side reaches them: the first directly, the second through proxies. */
async function openEngines(keep: <T extends { close(): Promise<void> }>(part: T) => T) {
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
  const reached = (side: 1 | 2, database: string) => ({
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
  const between: readonly TcpProxy[] = [databaseProxy, redisProxy, s3Proxies[1], ...kafka.proxies];
  return { postgres, redis, kafka, objects, databaseUrl, reached, between };
}
