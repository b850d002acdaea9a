import assert from "node:assert/strict";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { createOtlpReceiver } from "./otlp-receiver.ts";

const receiver = await createOtlpReceiver();
after(() => receiver.close());

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";

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

async function post(body: Uint8Array<ArrayBuffer>, headers: Record<string, string>): Promise<number> {
  return (await fetch(`${receiver.endpoint}/v1/traces`, { method: "POST", body, headers })).status;
}

test("an exported span is read whole, plain or gzipped", async () => {
  const body = Buffer.from(JSON.stringify(json));
  assert.equal(await post(body, { "content-type": "application/json" }), 200);
  const gzipped = { "content-type": "application/json", "content-encoding": "gzip" };
  assert.equal(await post(Buffer.from(gzipSync(body)), gzipped), 200);
  const spans = await receiver.waitFor((all) => all.length === 2);
  for (const span of spans) assert.deepEqual(span, expected);
});

test("an encoding we do not read is refused, not lost", async () => {
  assert.equal(await post(Buffer.alloc(3), { "content-type": "application/x-protobuf" }), 415);
});
