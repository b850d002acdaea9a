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
import { otelSpanEngine } from "./tracing/otel-span-engine.ts";
import { useSpanEngine } from "./tracing/span-engine.ts";

export interface ExportOptions {
  readonly service: string;
  readonly version: string;
  readonly instance?: string;
  /** Base URL of an OTLP/HTTP receiver. */
  readonly otlpEndpoint: string;
  /** Headers that the receiver requires, such as a credential. */
  readonly otlpHeaders?: Readonly<Record<string, string>>;
  /** More attributes of this process, by names of OpenTelemetry. */
  readonly resourceAttributes?: Readonly<Record<string, string>>;
  /** Share of new traces that are recorded, 0 to 1; the caller's decision is kept. */
  readonly sampleRatio?: number;
  /** Logs spans that could not be exported. */
  readonly log?: Logger;
}

/** Time limit of one export: the close waits no longer for an unavailable receiver. */
const exportMsMax = seconds(3);

/** Starts OpenTelemetry and makes it the engine of every span. Returns its close. */
export function startExporting(options: ExportOptions): () => Promise<void> {
  const exporter = new OTLPTraceExporter({
    url: `${options.otlpEndpoint.replace(/\/$/, "")}/v1/traces`,
    timeoutMillis: exportMsMax,
    headers: { ...options.otlpHeaders },
  });
  const sdk = startNodeSDK({
    // Its own console lines would break our JSON lines.
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
    // Metrics are scraped and logs are lines: without these two options, the SDK would start exporters from the
    // environment.
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: instrumentations(),
  });
  if (options.log) reportTo(options.log);
  useSpanEngine(otelSpanEngine);
  return () => sdk.shutdown();
}

/**
 * Lists the instrumentations of clients. HTTP server, outbox, log and worker spans are our own: the instrumentation of
 * kafkajs would overwrite the traceparent stored with an event.
 */
function instrumentations(): Instrumentation[] {
  // Without this hook, pg imported from an ES module is not instrumented.
  register("@opentelemetry/instrumentation/hook.mjs", import.meta.url);
  return [
    new PgInstrumentation({ requireParentSpan: true, ignoreConnectSpans: true }),
    new UndiciInstrumentation({ requireParentforSpans: true, startSpanHook: withoutSecrets }),
  ];
}

/**
 * Removes query and user info from a URL: webhook and import URLs belong to their owner, and these parts are as good as
 * a password.
 */
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
