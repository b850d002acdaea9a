/** A span as the OTLP receiver parsed it. */
export interface ReceivedSpan {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** `null` for the root of a trace. */
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: "unspecified" | "internal" | "server" | "client" | "producer" | "consumer";
  /** `service.name` of the resource. */
  readonly service: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly failed: boolean;
}

/** In the order of `SpanKind` in opentelemetry/proto/trace/v1/trace.proto. */
export const spanKinds = ["unspecified", "internal", "server", "client", "producer", "consumer"] as const;

/** `STATUS_CODE_ERROR` of the same file. */
export const failedStatus = 2;
