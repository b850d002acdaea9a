import { bytes, type Fields, hex, integer, messages, readFields, text } from "./protobuf-reader.ts";
import { failedStatus, type ReceivedSpan, spanKinds } from "./received-span.ts";

/** Reads an `ExportTraceServiceRequest`; the numbers are those of opentelemetry/proto/{trace,resource,common}/v1. */
export function protobufSpans(body: Buffer): ReceivedSpan[] {
  return messages(readFields(body), 1).flatMap((resourceSpans) => {
    const resource = attributesOf(messages(resourceSpans, 1)[0], 1);
    return messages(resourceSpans, 2).flatMap((scope) => messages(scope, 2).map((span) => spanOf(span, resource)));
  });
}

function spanOf(span: Fields, resource: Record<string, unknown>): ReceivedSpan {
  const status = messages(span, 15)[0];
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentSpanId: hex(span, 4) || null,
    name: text(span, 5),
    kind: spanKinds[Number(integer(span, 6))] ?? "unspecified",
    service: String(resource["service.name"] ?? ""),
    attributes: attributesOf(span, 9),
    resource,
    links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
    startNs: integer(span, 7),
    endNs: integer(span, 8),
    failed: status !== undefined && Number(integer(status, 3)) === failedStatus,
  };
}

function attributesOf(fields: Fields | undefined, number: number): Record<string, unknown> {
  if (!fields) return {};
  const pairs = messages(fields, number).map((pair) => [text(pair, 1), anyValue(messages(pair, 2)[0])]);
  return Object.fromEntries(pairs);
}

/** `AnyValue`: exactly one of its fields is set. */
function anyValue(value: Fields | undefined): unknown {
  if (!value) return null;
  if (value.has(1)) return text(value, 1);
  if (value.has(2)) return integer(value, 2) === 1n;
  if (value.has(3)) return Number(BigInt.asIntN(64, integer(value, 3)));
  if (value.has(4)) return doubleOf(integer(value, 4));
  if (value.has(5)) return messages(messages(value, 5)[0] as Fields, 1).map(anyValue);
  if (value.has(6)) return attributesOf(messages(value, 6)[0], 1);
  return bytes(value, 7)[0] ?? null;
}

function doubleOf(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}
