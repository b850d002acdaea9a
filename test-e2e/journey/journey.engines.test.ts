// Whole machine: a system of fourteen processes, and a second one from its backup.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createMailbox, createOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from "@signalbox/testing";
import { assertMetrics, assertQueries, startPrometheus } from "../observe/start-prometheus.ts";
import { services, startEnginesSystem } from "../systems/engines-system.ts";
import { environmentOf } from "../systems/service-process.ts";
import { openSystemEngines, type SystemEngines } from "../systems/system-engines.ts";
import { isOfOneMoment, type Reach, restoreBackup, takeBackup } from "./back-up.ts";
import { type JourneyRecord, journeyProperties, runJourney } from "./journey.ts";
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

test("engines: the same journey with a process per service on Kafka, PostgreSQL, Redis, S3 and nginx, again on a restored backup", async () => {
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

  assert.match(await system.firstLink(), new RegExp(`^${system.baseUrl}/oauth/first-link/sbx_link_`));
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

/** The services that an upload passes on its way to a subscriber. */
const passed = ["images", "image-worker", "webhook-delivery"];

/** Expects one connected trace: from the upload request over the outbox, the log and the worker to the attempt. */
async function assertOneTrace(receiver: OtlpReceiver, { uploadTraceId }: JourneyRecord): Promise<void> {
  const ofUpload = (spans: readonly ReceivedSpan[]) => spans.filter(({ traceId }) => traceId === uploadTraceId);
  const isWhole = (spans: readonly ReceivedSpan[]) => {
    const services = new Set(ofUpload(spans).map(({ service }) => service));
    return passed.every((service) => services.has(service)) && steps.every((step) => ofUpload(spans).some(step));
  };
  const spans = ofUpload(await receiver.waitFor(isWhole, { message: "the trace reaches the attempt" }));
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const attempt = spans.find(isAttempt) as ReceivedSpan;
  assert.equal(attempt.service, "webhook-delivery");
  const roots = new Set(spans.map((span) => rootOf(span, byId)));
  assert.equal(roots.size, 1, "every span of the trace leads back to the upload request");
}

const isAttempt = ({ name }: ReceivedSpan): boolean => name === "webhook attempt";
/** Created by the hooks of the PostgreSQL driver: they work only when telemetry starts before the driver loads. */
const isStatement = ({ name, service }: ReceivedSpan): boolean => service === "images" && name.startsWith("pg.query");
/** Spans of our own code, which no instrumentation creates. */
const isNamed = (name: string, of: string) => (span: ReceivedSpan) => span.name === name && span.service === of;
const steps = [
  isAttempt,
  isStatement,
  isNamed("read image", "images"),
  isNamed("S3 PUT", "images"),
  isNamed("publish outbox", "images"),
  isNamed("S3 GET", "image-worker"),
  isNamed("render image", "image-worker"),
];

/** Returns the root's parent, which is the client's span. */
function rootOf(span: ReceivedSpan, byId: ReadonlyMap<string, ReceivedSpan>): string | null {
  let current = span;
  for (;;) {
    const parent = current.parentSpanId === null ? undefined : byId.get(current.parentSpanId);
    if (parent === undefined) return current.parentSpanId;
    current = parent;
  }
}
