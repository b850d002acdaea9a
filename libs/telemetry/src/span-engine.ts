import { localSpanEngine } from "./local-span-engine.ts";
import type { TraceIdentity } from "./trace-identity.ts";
import type { Span, SpanOptions } from "./tracer.ts";

/** What makes spans: the cheap local engine, or OpenTelemetry once an endpoint is set. One per process. */
export interface SpanEngine {
  span<T>(service: string, name: string, options: SpanOptions, work: (span: Span) => T): T;
  current(): TraceIdentity | undefined;
  within<T>(parent: TraceIdentity, work: () => T): T;
}

let engine: SpanEngine = localSpanEngine;

export function spanEngine(): SpanEngine {
  return engine;
}

/** Called once by `startTelemetry`, before any work has begun. */
export function useSpanEngine(chosen: SpanEngine): void {
  engine = chosen;
}
