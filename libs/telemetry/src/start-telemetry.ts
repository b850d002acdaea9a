import type { Logger } from "./logger.ts";

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

/** Must be awaited before the modules it instruments (pg, undici) are imported. Trace ids exist with or without it. */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { otlpEndpoint } = options;
  if (otlpEndpoint === null) return { close: async () => {} };

  // Imported here, because a process without an endpoint should not pay for loading it.
  const { startExporting } = await import("./start-exporting.ts");
  return startExporting({ ...options, otlpEndpoint });
}
