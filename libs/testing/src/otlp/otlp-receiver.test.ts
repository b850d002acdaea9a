import assert from "node:assert/strict";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { createOtlpReceiver } from "./otlp-receiver.ts";
import { protobufSpans } from "./protobuf-spans.ts";

const receiver = await createOtlpReceiver();
after(() => receiver.close());

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

/** One field: numbers become varints, everything else bytes with their length. */
function field(number: number, value: bigint | string | Buffer): Buffer {
  if (typeof value === "bigint") return Buffer.concat([varint(BigInt(number << 3)), varint(value)]);
  const bytes = Buffer.from(value as Buffer);
  return Buffer.concat([varint(BigInt((number << 3) | 2)), varint(BigInt(bytes.length)), bytes]);
}

function fixed64(number: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return Buffer.concat([varint(BigInt((number << 3) | 1)), bytes]);
}

const message = (number: number, ...fields: Buffer[]) => field(number, Buffer.concat(fields));
const pair = (number: number, key: string, value: Buffer) => message(number, field(1, key), field(2, value));

const protobuf = message(
  1,
  message(1, pair(1, "service.name", field(1, "images"))),
  message(
    2,
    message(1, field(1, "scope")),
    message(
      2,
      field(1, Buffer.from(traceId, "hex")),
      field(2, Buffer.from(spanId, "hex")),
      field(4, Buffer.from("00f067aa0ba902b7", "hex")),
      field(5, "POST /images"),
      field(6, 2n),
      fixed64(7, 1_700_000_000_000_000_000n),
      fixed64(8, 1_700_000_000_005_000_000n),
      pair(9, "http.status", field(3, 201n)),
      pair(9, "offset", field(3, -5n)),
      pair(9, "retried", field(2, 1n)),
      message(13, field(1, Buffer.from(traceId, "hex")), field(2, Buffer.from(spanId, "hex"))),
      message(15, field(3, 2n)),
    ),
  ),
);

const json = {
  resourceSpans: [
    {
      resource: { attributes: [{ key: "service.name", value: { stringValue: "images" } }] },
      scopeSpans: [
        {
          spans: [
            {
              traceId,
              spanId,
              parentSpanId: "00f067aa0ba902b7",
              name: "POST /images",
              kind: 2,
              startTimeUnixNano: "1700000000000000000",
              endTimeUnixNano: "1700000000005000000",
              attributes: [
                { key: "http.status", value: { intValue: "201" } },
                { key: "offset", value: { intValue: -5 } },
                { key: "retried", value: { boolValue: true } },
              ],
              links: [{ traceId, spanId }],
              status: { code: 2 },
            },
          ],
        },
      ],
    },
  ],
};

const expected = {
  traceId,
  spanId,
  parentSpanId: "00f067aa0ba902b7",
  name: "POST /images",
  kind: "server",
  service: "images",
  attributes: { "http.status": 201, offset: -5, retried: true },
  resource: { "service.name": "images" },
  links: [{ traceId, spanId }],
  startNs: 1_700_000_000_000_000_000n,
  endNs: 1_700_000_000_005_000_000n,
  failed: true,
};

async function post(body: string | Buffer, headers: Record<string, string>): Promise<number> {
  const sent = typeof body === "string" ? body : new Uint8Array(body);
  return (await fetch(`${receiver.endpoint}/v1/traces`, { method: "POST", body: sent, headers })).status;
}

test("a span reads the same from protobuf and from JSON, plain and gzipped", async () => {
  assert.equal(await post(protobuf, { "content-type": "application/x-protobuf" }), 200);
  assert.equal(await post(JSON.stringify(json), { "content-type": "application/json" }), 200);
  const gzipped = { "content-type": "application/x-protobuf", "content-encoding": "gzip" };
  assert.equal(await post(gzipSync(protobuf), gzipped), 200);
  const spans = await receiver.waitFor((all) => all.length === 3);
  for (const span of spans) assert.deepEqual(span, expected);
});

test("a message that ends too early is an error, not a span", () => {
  assert.throws(() => protobufSpans(protobuf.subarray(0, -3)), RangeError);
});
