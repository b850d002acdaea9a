import type { TraceIdentity } from "./trace-identity.ts";

type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";
type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

export interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** Traceparents of related units of work other than the parent. */
  readonly links?: readonly (string | undefined)[];
  /** The traceparent to continue, instead of the current one; `null` starts a new trace. */
  readonly parent?: string | null | undefined;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** W3C trace context of this span, to pass on. */
  readonly traceparent: string;
  setAttributes(attributes: Attributes): void;
  /** Marks the span as failed without throwing. */
  fail(reason: string): void;
}

/** Makes spans: the cheap local engine, or OpenTelemetry once an endpoint is set. One per process. */
export interface SpanEngine {
  /** True when spans of sampled traces are exported, so that their ids can be found. */
  readonly exports: boolean;
  span<T>(service: string, name: string, options: SpanOptions, work: (span: Span) => T): T;
  current(): TraceIdentity | undefined;
  within<T>(parent: TraceIdentity, work: () => T): T;
}
