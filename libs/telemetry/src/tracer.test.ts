import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createTracer, parseTraceparent } from "./index.ts";

const tracer = createTracer("account");
const parent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";

test("a span has ids without an exporter, and its work sees them across awaits", async () => {
  const traceparent = await tracer.span("work", {}, async (span) => {
    await turn();
    assert.equal(tracer.traceparent(), span.traceparent);
    assert.equal(tracer.traceId(), span.traceId);
    return span.traceparent;
  });
  assert.match(traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  assert.equal(tracer.traceparent(), undefined);
});

test("a span inside a span belongs to the same trace under an id of its own", () => {
  tracer.span("outer", {}, (outer) => {
    tracer.span("inner", {}, (inner) => {
      assert.equal(inner.traceId, outer.traceId);
      assert.notEqual(inner.spanId, outer.spanId);
    });
    tracer.span("apart", { parent: null }, (apart) => assert.notEqual(apart.traceId, outer.traceId));
  });
});

test("a stored traceparent is continued, with the decision of the caller", () => {
  tracer.span("handler", { parent }, (span) => {
    assert.equal(span.traceId, "0123456789abcdef0123456789abcdef");
    assert.match(span.traceparent, /-01$/);
  });
  tracer.withTraceparent(parent, () => assert.equal(tracer.traceparent(), parent));
});

test("a malformed traceparent is ignored", () => {
  const malformed = [
    "",
    "00-0-0-0",
    parent.toUpperCase(),
    `ff${parent.slice(2)}`,
    `${parent}-more`,
    parent.replace(/[1-9a-f]/g, "0"),
  ];
  for (const text of malformed) {
    assert.equal(parseTraceparent(text), undefined, text);
    assert.equal(
      tracer.withTraceparent(text, () => tracer.traceparent()),
      undefined,
    );
  }
  assert.ok(parseTraceparent(`01${parent.slice(2)}-more`));
});

test("an error of the work is rethrown", async () => {
  assert.throws(() => tracer.span("work", {}, () => assert.fail("out")), /out/);
  await assert.rejects(
    tracer.span("work", {}, async () => assert.fail("out")),
    /out/,
  );
});
