import type { ExportOptions } from "./start-exporting.ts";

export interface Telemetry {
  /** Sends the spans that are still held and stops. Bounded; a receiver that is away costs the spans, not the stop. */
  close(): Promise<void>;
}

export interface TelemetryOptions extends Omit<ExportOptions, "otlpEndpoint"> {
  /** Base URL of an OTLP/HTTP receiver; `null` exports nothing and hooks nothing. */
  readonly otlpEndpoint: string | null;
}

/** Must be awaited before the modules it instruments (pg, undici) are imported. Trace ids exist with or without it. */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { otlpEndpoint } = options;
  if (otlpEndpoint === null) return { close: async () => {} };

  // Imported here, because a process without an endpoint should not pay for loading it.
  const { startExporting } = await import("./start-exporting.ts");
  return { close: startExporting({ ...options, otlpEndpoint }) };
}
