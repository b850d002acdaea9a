import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createMailbox, createOtlpReceiver } from "@signalbox/testing";
import { assertMetrics, assertQueries } from "../observe/assert-metrics.ts";
import { startPrometheus } from "../observe/start-prometheus.ts";
import { services, startEnginesSystem } from "../systems/engines-system.ts";
import { environmentOf } from "../systems/service-process.ts";
import { openSystemEngines, type SystemEngines } from "../systems/system-engines.ts";
import { assertOneTrace } from "./assert-trace.ts";
import { isOfOneMoment, type Reach, restoreBackup, takeBackup } from "./back-up.ts";
import { journeyProperties, runJourney } from "./journey.ts";
import { assertEvents, assertPlainKafka } from "./read-events.ts";

const owners = ["account", "images", "config", "webhook-ingest", "webhook-delivery"] as const;

/** The operator's connection to the engines. */
const reach = (engines: SystemEngines): Reach => ({
  environment: environmentOf({
    "events.url": engines.eventsUrl,
    "blobs.url": engines.blobs.url,
    "blobs.access-key": engines.blobs.accessKey,
    "blobs.secret-key": engines.blobs.secretKey,
    ...Object.fromEntries(owners.map((service) => [`${service}.database.url`, engines.databaseUrl(service)])),
  }),
});

test("engines: the same journey with a process per service on Kafka, PostgreSQL, Redis, S3 and nginx, and again on a restored backup", async () => {
  await using opened = new AsyncDisposableStack();
  const collector = await createOtlpReceiver();
  opened.defer(() => collector.close());
  const mailbox = await createMailbox();
  opened.defer(() => mailbox.close());
  const properties = {
    ...journeyProperties(mailbox),
    "telemetry.otlp-endpoint": collector.endpoint,
    "secrets.keys": `k1:${randomBytes(32).toString("base64")}`,
  };
  const engines = await openSystemEngines(services);
  const system = await startEnginesSystem({ properties, engines });
  opened.defer(() => system.close());
  const prometheus = await startPrometheus(system.managementUrls);
  opened.defer(() => prometheus.close());

  const record = await runJourney(system, mailbox);
  await assertEvents(system.eventsUrl, record);
  await assertPlainKafka(system.eventsUrl, record);
  await assertOneTrace(collector, record);
  await assertMetrics(system);
  await assertQueries(prometheus, system);
  const backup = await takeBackup(system, record.imageId, reach(engines));
  opened.defer(() => backup.remove());
  const codes = await system.stop();
  assert.deepEqual(new Set(codes.values()), new Set([0]), `every process drains and exits with 0: ${[...codes]}`);

  const empty = await openSystemEngines(services);
  await restoreBackup(backup, reach(empty)).catch((error: unknown) => empty.close().then(() => Promise.reject(error)));
  const restored = await startEnginesSystem({ properties, engines: empty });
  opened.defer(() => restored.close());
  await isOfOneMoment({ ...restored, apiKey: system.apiKey }, backup);
  await assertEvents(restored.eventsUrl, await runJourney(restored, mailbox));
});
