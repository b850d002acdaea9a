export interface Telemetry {
  /** Sends what is still held, within the given time, and stops. */
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
}

/** Must be called before the modules it instruments (pg, undici) are imported. */
export declare function startTelemetry(options: TelemetryOptions): Telemetry;
