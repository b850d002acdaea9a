import { failedStatus, type ReceivedSpan, spanKinds } from "./received-span.ts";

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
export function jsonSpans(body: Buffer): ReceivedSpan[] {
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
