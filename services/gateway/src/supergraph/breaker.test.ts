import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "@signalbox/core";
import { Breaker } from "./breaker.ts";

function setUp() {
  let nowMs = 0;
  const breaker = new Breaker({ ...systemClock, steadyMs: () => nowMs });
  return {
    breaker,
    pass: (ms: number) => {
      nowMs += ms;
    },
    end(times: number, end: "answered" | "failed" | "unknown") {
      for (let count = 0; count < times; count++) (breaker.enter() ?? assert.fail("it is open"))(end);
    },
  };
}

test("half of twenty fetches that fail within ten seconds open it, and fewer or older ones do not", () => {
  const few = setUp();
  few.end(19, "failed");
  assert.equal(few.breaker.isOpen, false);
  few.end(1, "failed");
  assert.deepEqual([few.breaker.isOpen, few.breaker.enter()], [true, null]);

  const mixed = setUp();
  mixed.end(11, "answered");
  mixed.end(10, "failed");
  assert.equal(mixed.breaker.isOpen, false);
  mixed.end(1, "failed");
  assert.equal(mixed.breaker.isOpen, true);

  const old = setUp();
  old.end(19, "failed");
  old.pass(10_001);
  old.end(1, "failed");
  assert.equal(old.breaker.isOpen, false);
});

test("after five seconds one fetch is sent, and its outcome decides", () => {
  const { breaker, pass, end } = setUp();
  end(20, "failed");
  pass(4_999);
  assert.equal(breaker.enter(), null);
  pass(1);
  const probe = breaker.enter() ?? assert.fail();
  assert.equal(breaker.enter(), null, "one and no more");
  probe("failed");
  assert.equal(breaker.enter(), null);
  pass(5_000);
  end(1, "unknown");
  end(1, "answered");
  assert.equal(breaker.isOpen, false);
  end(19, "failed");
  assert.equal(breaker.isOpen, false, "it counts anew");
});

test("an aborted fetch does not count", () => {
  const { breaker, end } = setUp();
  end(100, "unknown");
  end(19, "failed");
  assert.equal(breaker.isOpen, false);
});
