import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEngine, type TestDatabase, testDatabase, testRedis, testS3 } from "@signalbox/testing";
import { createKafkaLog } from "../ledger/witnesses/kafka-log.ts";
import type { LogReader } from "../ledger/witnesses/log-reader.ts";
import { services } from "../systems/engines-system.ts";
import { keepIn, unlimited } from "../systems/system.ts";
import { startTwoOfEach, type TwoOfEach } from "../systems/two-of-each.ts";

export interface RollingSystem extends TwoOfEach {
  readonly log: LogReader;
  close(): Promise<void>;
}

/** Starts two instances of each service on one broker and the shared engines of the tests. */
export async function startRollingSystem({ folder }: { readonly folder?: string } = {}): Promise<RollingSystem> {
  await using opened = new AsyncDisposableStack();
  const keep = keepIn(opened);
  const staging = await mkdtemp(join(tmpdir(), "signalbox-rolling-"));
  opened.defer(() => rm(staging, { recursive: true, force: true }));
  const kafka = keep(await startEngine("kafka"));
  const [redis, s3] = await Promise.all([testRedis(), testS3()]);
  const databases = new Map<string, TestDatabase>();
  for (const service of services) databases.set(service, keep(await testDatabase()));
  const system = await startTwoOfEach({
    keep,
    eventsUrl: kafka.url,
    ...(folder !== undefined && { folder }),
    shared: {
      ...unlimited,
      "graphql.limits.mode": "measure",
      "cache.url": redis.url,
      "blobs.url": s3.url,
      "blobs.access-key": s3.accessKey,
      "blobs.secret-key": s3.secretKey,
      "events.url": kafka.url,
      "config.copy-directory": staging,
      "images.upload.directory": staging,
    },
    engines: (service) => ({ "database.url": databases.get(service)?.url ?? "" }),
  });
  const closes = opened.move();
  return { ...system, log: createKafkaLog([new URL(kafka.url).host]), close: () => closes.disposeAsync() };
}
