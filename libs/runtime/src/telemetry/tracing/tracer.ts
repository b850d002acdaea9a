import type { Span, SpanOptions } from "./span.ts";
import { spanEngine } from "./span-engine.ts";
import { formatTraceparent, parseTraceparent } from "./trace-identity.ts";

/** Spans and the trace they belong to. Trace ids exist whether spans are exported or not. */
export interface Tracer {
  /** Runs `work` in a span that ends with it; an error marks the span as failed and is rethrown. */
  span<T>(name: string, options: SpanOptions, work: (span: Span) => T): T;
  /** Returns the W3C traceparent of the current work; undefined outside any. */
  traceparent(): string | undefined;
  /** Runs `work` as part of the trace named by the traceparent; a malformed or missing one changes nothing. */
  withTraceparent<T>(traceparent: string | undefined, work: () => T): T;
  /** Returns the current trace id (32 hex digits); undefined outside any trace. */
  traceId(): string | undefined;
}

/** Creates the tracer of a service. Cheap: its spans are made by the engine chosen by telemetry. */
export function createTracer(service: string): Tracer {
  return {
    span: (name, options, work) => spanEngine().span(service, name, options, work),
    traceparent: () => {
      const identity = spanEngine().current();
      return identity && formatTraceparent(identity);
    },
    withTraceparent: (traceparent, work) => {
      const identity = parseTraceparent(traceparent);
      return identity ? spanEngine().within(identity, work) : work();
    },
    traceId: () => spanEngine().current()?.traceId,
  };
}
