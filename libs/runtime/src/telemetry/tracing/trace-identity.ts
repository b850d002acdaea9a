import { randomFillSync } from "node:crypto";

/** Identifies a unit of work in a trace: W3C trace context without its state. */
export interface TraceIdentity {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Two hex digits; the lowest bit means that the caller records the trace. */
  readonly flags: string;
}

/** W3C Trace Context level 1 §3.2: later versions may append fields, version ff and all-zero ids are invalid. */
const pattern = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads a traceparent header; `undefined` for one that is missing or malformed. */
export function parseTraceparent(text: string | null | undefined): TraceIdentity | undefined {
  if (!text || text.length < 55 || text.length > 512) return undefined;
  const match = pattern.exec(text);
  if (!match || (match[1] === "00" && match[5] !== undefined)) return undefined;
  return { traceId: match[2] as string, spanId: match[3] as string, flags: match[4] as string };
}

export function formatTraceparent({ traceId, spanId, flags }: TraceIdentity): string {
  return `00-${traceId}-${spanId}-${flags}`;
}

export const newTraceId = (): string => randomHex(16);
export const newSpanId = (): string => randomHex(8);

// One call of the random generator for hundreds of ids: a call for each would take longer than the span around it.
const pool = Buffer.alloc(8192);
let used = pool.length;

function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString("hex", used - bytes, used);
}
