import { DiagLogLevel, diag } from "@opentelemetry/api";
import { seconds } from "@signalbox/core";
import type { Logger } from "./logger.ts";
import { useSpanEngine } from "./span-engine.ts";

export interface Telemetry {
  /** Sends the spans that are still held and stops. Bounded; a receiver that is away costs the spans, not the stop. */
  close(): Promise<void>;
}

export interface TelemetryOptions {
  readonly service: string;
  readonly version: string;
  readonly instance?: string;
  /** Base URL of an OTLP/HTTP receiver; `null` exports nothing and hooks nothing. */
  readonly otlpEndpoint: string | null;
  /** Share of new traces that are recorded, 0 to 1; what the caller decided is kept. */
  readonly sampleRatio?: number;
  /** Hears of spans that could not be exported. */
  readonly log?: Logger;
}

/** How long one export may take: the close waits no longer for a receiver that is away. */
const exportMsMax = seconds(3);

/** Must be awaited before the modules it instruments (pg, undici) are imported. Trace ids exist with or without it. */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { otlpEndpoint } = options;
  if (otlpEndpoint === null) return { close: async () => {} };

  // Imported here, because a process without an endpoint should not pay for loading them.
  const [
    { startNodeSDK },
    { BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler },
    { OTLPTraceExporter },
  ] = await Promise.all([
    import("@opentelemetry/sdk-node"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-http"),
  ]);
  const [{ otelSpanEngine }, { instrumentations }] = await Promise.all([
    import("./otel-span-engine.ts"),
    import("./instrumentations.ts"),
  ]);
  const exporter = new OTLPTraceExporter({
    url: `${otlpEndpoint.replace(/\/$/, "")}/v1/traces`,
    timeoutMillis: exportMsMax,
  });
  const sdk = startNodeSDK({
    // Its own console lines would stand between our JSON lines.
    logLevel: "none",
    resourceAttributes: {
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
  return { close: () => sdk.shutdown() };
}

function reportTo(log: Logger): void {
  const warn = (message: string, ...details: unknown[]) => log.warn({ details }, `OpenTelemetry: ${message}`);
  const quiet = () => {};
  diag.setLogger(
    { error: warn, warn, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
