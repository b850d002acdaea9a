import { register } from "node:module";
import { type Attributes, DiagLogLevel, diag } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import type { Instrumentation } from "@opentelemetry/instrumentation";
import { PgInstrumentation } from "@opentelemetry/instrumentation-pg";
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";
import { startNodeSDK } from "@opentelemetry/sdk-node";
import { BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace";
import { seconds } from "@signalbox/core";
import type { Logger } from "./logger.ts";
import { otelSpanEngine } from "./otel-span-engine.ts";
import { useSpanEngine } from "./span-engine.ts";

export interface ExportOptions {
  readonly service: string;
  readonly version: string;
  readonly instance?: string;
  /** Base URL of an OTLP/HTTP receiver. */
  readonly otlpEndpoint: string;
  /** What the receiver asks for beside the spans, such as a credential. */
  readonly otlpHeaders?: Readonly<Record<string, string>>;
  /** More about this process, by names of OpenTelemetry. */
  readonly resourceAttributes?: Readonly<Record<string, string>>;
  /** Share of new traces that are recorded, 0 to 1; what the caller decided is kept. */
  readonly sampleRatio?: number;
  /** Hears of spans that could not be exported. */
  readonly log?: Logger;
}

/** How long one export may take: the close waits no longer for a receiver that is away. */
const exportMsMax = seconds(3);

/** Starts OpenTelemetry and makes it the engine of every span. Returns its close. */
export function startExporting(options: ExportOptions): () => Promise<void> {
  const exporter = new OTLPTraceExporter({
    url: `${options.otlpEndpoint.replace(/\/$/, "")}/v1/traces`,
    timeoutMillis: exportMsMax,
    headers: { ...options.otlpHeaders },
  });
  const sdk = startNodeSDK({
    // Its own console lines would stand between our JSON lines.
    logLevel: "none",
    resourceAttributes: {
      ...options.resourceAttributes,
      "service.name": options.service,
      "service.version": options.version,
      "service.instance.id": options.instance,
    },
    resourceDetectors: [],
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.sampleRatio ?? 1) }),
    spanProcessors: [
      new BatchSpanProcessor({ exporter, scheduledDelayMillis: seconds(1), exportTimeoutMillis: exportMsMax }),
    ],
    // Metrics are scraped and logs are lines: without these two, the SDK would start exporters from the environment.
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: instrumentations(),
  });
  if (options.log) reportTo(options.log);
  useSpanEngine(otelSpanEngine);
  return () => sdk.shutdown();
}

/**
 * Watches the clients whose spans are made for us. HTTP server, outbox, log and worker spans are our own: the instrumentation
 * of kafkajs would overwrite the traceparent that was stored with an event.
 */
function instrumentations(): Instrumentation[] {
  // Without this hook, pg imported from an ES module is never seen.
  register("@opentelemetry/instrumentation/hook.mjs", import.meta.url);
  return [
    new PgInstrumentation({ requireParentSpan: true, ignoreConnectSpans: true }),
    new UndiciInstrumentation({ requireParentforSpans: true, startSpanHook: withoutSecrets }),
  ];
}

/** Webhook and import URLs are their owner's: what they carry after `?` or before `@` is as good as a password. */
function withoutSecrets({ origin, path }: { readonly origin: unknown; readonly path: string }): Attributes {
  const url = new URL(path, String(origin));
  return { "url.full": `${url.origin}${url.pathname}`, "url.query": "" };
}

function reportTo(log: Logger): void {
  const warn = (message: string, ...details: unknown[]) => log.warn({ details }, `OpenTelemetry: ${message}`);
  const quiet = () => {};
  diag.setLogger(
    { error: warn, warn, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
