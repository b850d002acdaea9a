import assert from "node:assert/strict";
import { test } from "node:test";
import { createOtlpReceiver } from "@signalbox/testing";
import { startEnginesSystem } from "../systems/engines-system.ts";
import { assertOneTrace } from "./assert-trace.ts";
import { runJourney } from "./journey.ts";
import { assertEvents } from "./read-events.ts";
import { assertPlainKafka } from "./read-kafka.ts";

test("engines: the same journey with a process per service on Kafka, PostgreSQL, Redis, S3 and nginx", async () => {
  await using opened = new AsyncDisposableStack();
  const collector = await createOtlpReceiver();
  opened.defer(() => collector.close());
  const properties = {
    "webhook-delivery.outbound.allow": "127.0.0.1:*",
    "telemetry.otlp-endpoint": collector.endpoint,
  };
  const system = await startEnginesSystem({ properties });
  opened.defer(() => system.close());

  const record = await runJourney(system);
  await assertEvents(system.eventsUrl, record);
  await assertPlainKafka(system.eventsUrl, record);
  await assertOneTrace(collector, record);
  const codes = await system.stop();
  assert.deepEqual(new Set(codes.values()), new Set([0]), `every process drains and exits with 0: ${[...codes]}`);
});
