import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTcpProxy, startEngine, type TcpProxy, testS3 } from "@signalbox/testing";
import { called, services } from "../../systems/engines-system.ts";
import { type Keep, keepIn } from "../../systems/system.ts";
import { type Side, startTwoOfEach } from "../../systems/two-of-each.ts";
import { createKafkaLog } from "../witnesses/kafka-log.ts";
import { createQuery, ledgerProperties } from "./database.ts";
import { openEdgeCertificate } from "./edge-certificate.ts";
import { failingLookups } from "./failing-lookups.ts";
import { startFailingObjectStore } from "./failing-object-store.ts";
import { startKafkaCluster } from "./kafka-cluster.ts";
import type { Between, LedgerSystem, ObjectServer } from "./ledger-system.ts";

const databaseOf = (service: string) => `signalbox_${service.replaceAll("-", "_")}`;

/** Starts two instances of each service on three brokers, PostgreSQL, Redis and S3, with nginx as the edge. */
export async function startEnginesLedger(issuer: string): Promise<LedgerSystem> {
  await using opened = new AsyncDisposableStack();
  const keep = keepIn(opened);
  const staging = await mkdtemp(join(tmpdir(), "signalbox-ledger-"));
  opened.defer(() => rm(staging, { recursive: true, force: true }));
  const engines = await openEngines(keep);
  const dnsAwayFile = join(staging, "dns-away");
  const certificate = await openEdgeCertificate(keep);
  const { edge, instances, administratorKey } = await startTwoOfEach({
    keep,
    secure: certificate.secure,
    eventsUrl: engines.kafka.url,
    shared: ledgerProperties(issuer, staging),
    variables: { NODE_OPTIONS: `--import=${failingLookups(dnsAwayFile)}` },
    engines: (service, side) => engines.reached(side, databaseOf(service)),
  });
  const closes = opened.move();
  return {
    mode: "engines",
    baseUrl: edge.url,
    administratorKey,
    instances,
    query: createQuery(engines.databaseUrl),
    databaseUrl: engines.databaseUrl,
    databases: new Map(called.map((service) => [service, databaseOf(service)])),
    log: createKafkaLog(engines.kafka.addresses),
    postgres: engines.postgres,
    kafka: engines.kafka,
    redis: { ...engines.redis, command: (line) => sendToRedis(engines.redis.port, line) },
    objects: engines.objects,
    between: engines.between,
    certificate: certificate.ofEdge(edge),
    blobDisk: null,
    databaseDisk: null,
    dnsAwayFile,
    dataDirectory: staging,
    stagingFolder: staging,
    beginAgain: null,
    close: () => closes.disposeAsync(),
  };
}

/** Opens the engines, and each side's connection to them: direct for the first, through proxies for the second. */
async function openEngines(keep: Keep) {
  const [postgres, redis, kafka, s3] = await Promise.all([
    startEngine("postgres").then(keep),
    startEngine("redis").then(keep),
    startKafkaCluster().then(keep),
    testS3(),
  ]);
  const proxyOf = async (url: string) => keep(await createTcpProxy({ port: Number(new URL(url).port) }));
  const store = keep(await startFailingObjectStore(s3.origin));
  const storeUrl = `http://127.0.0.1:${store.port}`;
  const s3Proxies = [await proxyOf(storeUrl), await proxyOf(storeUrl)] as const;
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
  // The shared object store of all tests must not be killed: a proxy refuses connections instead.
  const objects: ObjectServer = {
    kill: async () => void (await Promise.all(s3Proxies.map((proxy) => proxy.refuse()))),
    restart: async () => void (await Promise.all(s3Proxies.map((proxy) => proxy.accept()))),
    fail: store.fail,
    pass: store.pass,
  };
  const proxies = [databaseProxy, redisProxy, s3Proxies[1], ...kafka.proxies];
  return { postgres, redis, kafka, objects, databaseUrl, reached, between: betweenOf(proxies) };
}

/** Sends one command by hand, and waits for its answer. */
async function sendToRedis(port: number, line: string): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`${line}\r\n`);
  const [answer] = await once(socket, "data");
  socket.destroy();
  if (!String(answer).startsWith("+OK")) throw new Error(`${line}: ${answer}`);
}

/** Faults on the second instances' connections, to all engines at once. */
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
