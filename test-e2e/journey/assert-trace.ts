import assert from "node:assert/strict";
import type { OtlpReceiver, ReceivedSpan } from "@signalbox/testing";
import type { JourneyRecord } from "./journey.ts";

/** The services that an upload passes on its way to a subscriber. */
const passed = ["images", "image-worker", "webhook-delivery"];

/** Expects one connected trace: from the upload request over the outbox, the log and the worker to the attempt. */
export async function assertOneTrace(receiver: OtlpReceiver, { uploadTraceId }: JourneyRecord): Promise<void> {
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
