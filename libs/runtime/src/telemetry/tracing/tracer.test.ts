import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createManualClock } from "@signalbox/core";
import { createLogger, createTracer } from "../../index.ts";
import { parseTraceparent } from "./trace-identity.ts";

const tracer = createTracer("account");
const parent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";

test("work sees the ids of its span across awaits, without an exporter", async () => {
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

function outageUnderTest() {
  const clock = createManualClock(new Date("2026-02-03T04:05:06Z"));
  const texts: string[] = [];
  const destination = { write: (line: string) => void texts.push(line) };
  const log = createLogger({ service: "images", instance: "i", level: "info", clock, destination });
  const lines = () =>
    texts.splice(0).map((text) => {
      const { level, msg, part, parts, reason, failures, away_ms } = JSON.parse(text);
      return { level, msg, part, parts, reason, failures, away_ms };
    });
  return { clock, log, lines };
}

test("an outage is one line at its beginning, one every 30 s with the failures, one at its end", () => {
  const { clock, log, lines } = outageUnderTest();
  const broken = new Error("publishing failed", { cause: new Error("connect ECONNREFUSED") });
  for (let second = 0; second < 70; second++) {
    log.outage("The event log").failed("relay", broken);
    log.child({ part: "x" }).outage("The event log").failed("consumer", broken);
    clock.advance(1_000);
  }
  log.outage("The event log").passed("relay");
  assert.deepEqual(
    lines().map(({ msg, failures, parts, away_ms }) => [msg, failures, parts, away_ms]),
    [
      ["The event log is away", 1, 1, 0],
      ["The event log is still away", 61, 2, 30_000],
      ["The event log is still away", 121, 2, 60_000],
    ],
  );
  log.outage("The event log").passed("consumer");
  log.outage("The event log").passed("consumer");
  const [end, ...more] = lines();
  assert.deepEqual([end?.level, end?.msg, end?.failures, end?.away_ms], ["info", "The event log is back", 140, 70_000]);
  assert.deepEqual(more, []);
});

test("the line names the part, with a reason down to its causes but no stack", () => {
  const { log, lines } = outageUnderTest();
  log.outage("The database").failed("relay", new Error("no answer", { cause: new Error("ECONNRESET") }));
  const [line] = lines();
  assert.deepEqual([line?.level, line?.part, line?.reason], ["warn", "relay", "no answer: ECONNRESET"]);
});

test("a part that has ended does not keep an outage open", () => {
  const { clock, log, lines } = outageUnderTest();
  const outage = log.outage("The database");
  outage.failed("gone", new Error("away"));
  clock.advance(121_000);
  outage.failed("relay", new Error("away"));
  outage.passed("relay");
  outage.failed("relay", new Error("away"));
  assert.deepEqual(
    lines().map(({ msg }) => msg),
    ["The database is away", "The database is still away", "The database is back", "The database is away"],
  );
});
