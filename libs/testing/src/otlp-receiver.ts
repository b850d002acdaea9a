import { gunzipSync } from "node:zlib";
import { eventually } from "./eventually.ts";
import { createReceiver, type ReceivedRequest } from "./receiver.ts";

export interface OtlpReceiver {
  /** The value for `telemetry.otlp-endpoint`; spans are posted to `/v1/traces` below it. */
  readonly endpoint: string;
  /** Every span so far. */
  readonly spans: readonly ReceivedSpan[];
  /** Waits until the spans received so far make `check` return true. */
  waitFor(
    check: (spans: readonly ReceivedSpan[]) => boolean,
    options?: { timeoutMs?: number; message?: string },
  ): Promise<readonly ReceivedSpan[]>;
  /** Answers exports with this status, such as the 503 of an overloaded collector. */
  fail(status: number): void;
  close(): Promise<void>;
}

/** A real OTLP/HTTP collector for the traces of our exporter: JSON, plain or gzipped. */
export async function createOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const receiver = await createReceiver((request) => {
    if (request.path !== "/v1/traces") return { status: 404 };
    if (!String(request.headers["content-type"]).startsWith("application/json")) return { status: 415 };
    spans.push(...read(request));
    return { headers: { "content-type": "application/json" }, body: "{}" };
  });
  return {
    endpoint: receiver.url,
    spans,
    waitFor: async (check, options) => {
      await eventually(() => check(spans), { message: "the spans arrive", ...options });
      return spans;
    },
    fail: (status) => receiver.answer({ status }),
    close: () => receiver.close(),
  };
}

function read({ headers, body }: ReceivedRequest): ReceivedSpan[] {
  return jsonSpans(headers["content-encoding"] === "gzip" ? gunzipSync(body) : body);
}

interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values?: readonly AnyValue[] };
  readonly kvlistValue?: { readonly values?: readonly KeyValue[] };
  readonly bytesValue?: string;
}

interface KeyValue {
  readonly key: string;
  readonly value?: AnyValue;
}

interface JsonSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind?: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly KeyValue[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number };
}

interface ExportRequest {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans?: readonly { readonly spans?: readonly JsonSpan[] }[];
  }[];
}

/** Parses an export request in the JSON of the OTLP specification: ids in hex, enumerations as numbers. */
function jsonSpans(body: Buffer): ReceivedSpan[] {
  const { resourceSpans = [] } = JSON.parse(body.toString("utf8")) as ExportRequest;
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }) => {
    const about = attributesOf(resource?.attributes);
    return scopeSpans.flatMap(({ spans = [] }) => spans.map((span) => spanOf(span, about)));
  });
}

function spanOf(span: JsonSpan, resource: Record<string, unknown>): ReceivedSpan {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId || null,
    name: span.name,
    kind: spanKinds[span.kind ?? 0] ?? "unspecified",
    service: String(resource["service.name"] ?? ""),
    attributes: attributesOf(span.attributes),
    resource,
    links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
    startNs: BigInt(span.startTimeUnixNano),
    endNs: BigInt(span.endTimeUnixNano),
    failed: span.status?.code === failedStatus,
  };
}

function attributesOf(pairs: readonly KeyValue[] = []): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, anyValue(value)]));
}

function anyValue(value: AnyValue = {}): unknown {
  if (value.intValue !== undefined) return Number(value.intValue);
  if (value.arrayValue) return (value.arrayValue.values ?? []).map(anyValue);
  if (value.kvlistValue) return attributesOf(value.kvlistValue.values);
  if (value.bytesValue !== undefined) return Buffer.from(value.bytesValue, "base64");
  return value.stringValue ?? value.boolValue ?? value.doubleValue ?? null;
}

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
const spanKinds = ["unspecified", "internal", "server", "client", "producer", "consumer"] as const;

/** `STATUS_CODE_ERROR` of the same file. */
const failedStatus = 2;
