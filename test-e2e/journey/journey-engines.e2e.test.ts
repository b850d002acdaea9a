import assert from "node:assert/strict";
import { test } from "node:test";
import { createMailbox, createOtlpReceiver } from "@signalbox/testing";
import { assertMetrics, assertQueries } from "../observe/assert-metrics.ts";
import { startPrometheus } from "../observe/start-prometheus.ts";
import { startEnginesSystem } from "../systems/engines-system.ts";
import { assertOneTrace } from "./assert-trace.ts";
import { journeyProperties, runJourney } from "./journey.ts";
import { assertEvents } from "./read-events.ts";
import { assertPlainKafka } from "./read-kafka.ts";

test("engines: the same journey with a process per service on Kafka, PostgreSQL, Redis, S3 and nginx", async () => {
  await using opened = new AsyncDisposableStack();
  const collector = await createOtlpReceiver();
  opened.defer(() => collector.close());
  const mailbox = await createMailbox();
  opened.defer(() => mailbox.close());
  const properties = {
    ...journeyProperties(mailbox),
    "telemetry.otlp-endpoint": collector.endpoint,
  };
  const system = await startEnginesSystem({ properties });
  opened.defer(() => system.close());
  const prometheus = await startPrometheus(system.managementUrls);
  opened.defer(() => prometheus.close());

  const record = await runJourney(system, mailbox);
  await assertEvents(system.eventsUrl, record);
  await assertPlainKafka(system.eventsUrl, record);
  await assertOneTrace(collector, record);
  await assertMetrics(system);
  await assertQueries(prometheus, system);
  const codes = await system.stop();
  assert.deepEqual(new Set(codes.values()), new Set([0]), `every process drains and exits with 0: ${[...codes]}`);
});
