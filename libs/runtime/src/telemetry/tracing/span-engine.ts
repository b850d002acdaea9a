import { localSpanEngine } from "./local-span-engine.ts";
import type { SpanEngine } from "./span.ts";

let engine: SpanEngine = localSpanEngine;

export function spanEngine(): SpanEngine {
  return engine;
}

/** Called once by `startTelemetry`, before any other work. */
export function useSpanEngine(chosen: SpanEngine): void {
  engine = chosen;
}
