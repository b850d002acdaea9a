import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

interface OtlpSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  kind: number;
  attributes: { key: string; value: Record<string, unknown> }[];
  links: { traceId: string; spanId: string }[];
  status: { code?: number; message?: string };
}

const spans: OtlpSpan[] = [];
const resources: unknown[] = [];
const calledWith: (string | undefined)[] = [];
const exportedWith: unknown[] = [];
let scraped = "";
const receiver = createServer(async (request, response) => {
  if (request.url !== "/v1/traces") {
    calledWith.push(request.headers.traceparent as string | undefined);
    response.end("ok");
    return;
  }
  exportedWith.push(request.headers["x-token"]);
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as {
    resourceSpans: { resource: { attributes: unknown[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
  };
  for (const { resource, scopeSpans } of body.resourceSpans) {
    resources.push(...resource.attributes);
    for (const scope of scopeSpans) spans.push(...scope.spans);
  }
  response.setHeader("content-type", "application/json").end("{}");
});

before(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const main = fileURLToPath(new URL("../../test/exporting-main.ts", import.meta.url));
  const target = `${url}/target?token=hidden`;
  scraped = (await promisify(execFile)(process.execPath, [main, url, target])).stdout;
});
after(() => receiver.close());

const span = (name: string) => spans.find((one) => one.name === name) ?? assert.fail(`no span ${name}`);
const attribute = (one: OtlpSpan, key: string) => one.attributes.find((entry) => entry.key === key)?.value;

test("a span reaches the receiver whole, as a part of the stored trace", () => {
  const consumer = span("process image.created");
  assert.equal(consumer.traceId, "0123456789abcdef0123456789abcdef");
  assert.equal(consumer.parentSpanId, "0123456789abcdef");
  assert.equal(consumer.kind, 5);
  assert.deepEqual(attribute(consumer, "outcome"), { stringValue: "done" });
  assert.deepEqual(attribute(consumer, "signalbox.service"), { stringValue: "images" });
  assert.equal(attribute(consumer, "left"), undefined);
});

test("an outgoing request propagates the trace under a span of its own", () => {
  const client = spans.find((one) => one.kind === 3) ?? assert.fail("no client span");
  assert.equal(client.parentSpanId, span("process image.created").spanId);
  assert.deepEqual(calledWith, [`00-${client.traceId}-${client.spanId}-01`]);
});

test("a failure marks its span, without the secret in its message", () => {
  const inner = span("inner");
  assert.equal(inner.status.code, 2);
  assert.equal(inner.status.message, "no Bearer ******");
  assert.ok(!JSON.stringify(spans).includes("7Yb0cPq7"));
});

test("a new trace is linked to the work that led to it", () => {
  const apart = span("apart");
  assert.notEqual(apart.traceId, span("process image.created").traceId);
  assert.deepEqual(
    apart.links.map(({ spanId }) => spanId),
    [span("process image.created").spanId],
  );
});

test("an outgoing request does not show the query of its URL", () => {
  const client = spans.find((one) => one.kind === 3) ?? assert.fail("no client span");
  assert.match(String(attribute(client, "url.full")?.stringValue), /^http:\/\/127\.0\.0\.1:\d+\/target$/);
  assert.doesNotMatch(JSON.stringify(spans), /hidden/);
});

test("only an exported trace becomes an exemplar", () => {
  assert.match(scraped, /le="0.25".* # {trace_id="0123456789abcdef0123456789abcdef"} 0.2 /);
  assert.match(scraped, /le="30",service="images"} 2\n/);
});

test("the receiver gets its required headers", () => {
  assert.deepEqual(new Set(exportedWith), new Set(["of the receiver"]));
});

test("the process is named, with its operator's attributes", () => {
  assert.ok(JSON.stringify(resources).includes('{"key":"team.name","value":{"stringValue":"core"}}'));
  assert.ok(JSON.stringify(resources).includes('{"key":"service.name","value":{"stringValue":"probe"}}'));
});
