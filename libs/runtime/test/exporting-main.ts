import { createMetrics, createTracer } from "../src/index.ts";
import { startTelemetry } from "../src/telemetry/start-telemetry.ts";

/** A process that creates a few spans and calls a URL, observed by a receiver. */
const [endpoint, target] = process.argv.slice(2) as [string, string];
const telemetry = await startTelemetry({
  service: "probe",
  version: "1",
  otlpEndpoint: endpoint,
  otlpHeaders: { "x-token": "of the receiver" },
  resourceAttributes: { "team.name": "core" },
});
const metrics = createMetrics({ service: "images" });
const histogram = metrics.histogram("signalbox_outbox_publish_seconds");
const tracer = createTracer("images");

const parent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";
await tracer.span("process image.created", { kind: "consumer", parent, attributes: { attempt: 1 } }, async (span) => {
  span.setAttributes({ outcome: "done", left: undefined });
  histogram.observe({}, 0.2);
  await (await fetch(target)).text();
  await tracer
    .span("inner", {}, async () => Promise.reject(new Error("no Bearer 7Yb0cPq7TnV2sKxW9mRdLh")))
    .catch(() => {});
  const linked = tracer.traceparent();
  tracer.span("apart", { parent: null, links: [linked] }, () => {});
});
const unsampled = "00-1123456789abcdef0123456789abcdef-0123456789abcdef-00";
tracer.span("unsampled", { parent: unsampled }, () => histogram.observe({}, 20));
process.stdout.write(await metrics.text());
await telemetry.close();
