import type { ExportOptions } from "./start-exporting.ts";

export interface Telemetry {
  /** Sends buffered spans and stops. Bounded; an unavailable receiver loses the spans, but does not delay the stop. */
  close(): Promise<void>;
}

export interface TelemetryOptions extends Omit<ExportOptions, "otlpEndpoint"> {
  /** Base URL of an OTLP/HTTP receiver; `null` exports and instruments nothing. */
  readonly otlpEndpoint: string | null;
}

/**
 * Starts telemetry. Must be awaited before the modules it instruments (pg, undici) are imported. Trace ids exist with
 * or without it.
 */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { otlpEndpoint } = options;
  if (otlpEndpoint === null) return { close: async () => {} };

  // Imported here, because a process without an endpoint should not pay for loading it.
  const { startExporting } = await import("./start-exporting.ts");
  return { close: startExporting({ ...options, otlpEndpoint }) };
}
