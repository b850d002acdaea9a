import type { Configuration } from "@signalbox/config";
import type { Clock } from "@signalbox/core";
import type { Logger, Metrics, Tracer } from "@signalbox/telemetry";
import type { HttpProperties } from "../properties.ts";

/** What of a `ServiceContext` the edge needs. */
export interface HttpContext {
  readonly service: string;
  readonly configuration: Pick<Configuration<HttpProperties>, "get" | "onChange">;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  readonly clock: Clock;
}
