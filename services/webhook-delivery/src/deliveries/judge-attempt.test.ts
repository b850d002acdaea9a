import assert from "node:assert/strict";
import { test } from "node:test";
import { hours, seconds } from "@signalbox/core";
import fc from "fast-check";
import { controlOf, defaultScheduleMs, disableReason, judgeAttempt, retryAfterMs } from "./judge-attempt.ts";

const answered = (status: number, retryAfter: number | null = null) => ({
  status,
  error: null,
  retryAfterMs: retryAfter,
  control: null,
});
const failed = { status: null, error: "ECONNREFUSED", retryAfterMs: null, control: null };

test("any 2xx acknowledges, on any attempt", () => {
  for (const status of [200, 201, 202, 204, 299]) {
    assert.deepEqual(judgeAttempt(answered(status), 10), { outcome: "succeeded" });
  }
});

test("network errors, 408, 425, 429 and 5xx get ten attempts in all", () => {
  for (const result of [failed, answered(408), answered(425), answered(429), answered(500), answered(503)]) {
    for (let number = 1; number < 10; number++) assert.equal(judgeAttempt(result, number).outcome, "retry");
    assert.equal(judgeAttempt(result, 10).outcome, "exhausted");
  }
});

test("redirects and other 4xx get three attempts", () => {
  for (const status of [301, 302, 307, 400, 401, 403, 404, 422]) {
    assert.equal(judgeAttempt(answered(status), 2).outcome, "retry");
    assert.equal(judgeAttempt(answered(status), 3).outcome, "exhausted");
  }
});

test("410 ends the endpoint at once", () => {
  assert.deepEqual(judgeAttempt(answered(410), 1), { outcome: "gone" });
});

test("Retry-After is obeyed up to a day and never shortens a wait", () => {
  const delay = (asked: number) => {
    const judgement = judgeAttempt(answered(429, asked), 1, defaultScheduleMs, 0);
    return judgement.outcome === "retry" ? judgement.delayMs : null;
  };
  assert.equal(delay(0), seconds(5));
  assert.equal(delay(seconds(90)), seconds(90));
  assert.equal(delay(hours(48)), hours(24));
});

test("every delay is its step of the schedule plus at most a fifth", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.double({ min: 0, max: 1, noNaN: true }), (number, random) => {
      const judgement = judgeAttempt(failed, number, defaultScheduleMs, random);
      const step = defaultScheduleMs[number] as number;
      assert.ok(judgement.outcome === "retry" && judgement.delayMs >= step && judgement.delayMs <= step * 1.2 + 1);
    }),
  );
});

test("Retry-After is read as seconds or as a date, and an unreadable one is ignored", () => {
  const nowMs = Date.parse("2026-01-01T00:00:00.000Z");
  assert.equal(retryAfterMs("120", nowMs), 120_000);
  assert.equal(retryAfterMs("Thu, 01 Jan 2026 00:01:00 GMT", nowMs), 60_000);
  assert.equal(retryAfterMs("Wed, 31 Dec 2025 00:00:00 GMT", nowMs), 0);
  for (const rubbish of ["soon", "", "-5", "1e9"]) assert.equal(retryAfterMs(rubbish, nowMs), null, rubbish);
  assert.equal(retryAfterMs(undefined, nowMs), null);
});

test("Retry-After is read in the older date formats too, and the later of two counts", () => {
  const nowMs = Date.parse("2026-01-01T00:00:00.000Z");
  assert.equal(retryAfterMs("Thursday, 01-Jan-26 00:01:00 GMT", nowMs), 60_000);
  assert.equal(retryAfterMs("Sunday, 06-Nov-94 08:49:37 GMT", nowMs), 0);
  assert.equal(retryAfterMs("Thu Jan  1 00:01:00 2026", nowMs), 60_000);
  assert.equal(retryAfterMs(["5", "Thu, 01 Jan 2026 00:01:00 GMT"], nowMs), 60_000);
  assert.equal(retryAfterMs(["soon", "7"], nowMs), 7_000);
  for (const rubbish of ["Thu, 01 Foo 2026 00:01:00 GMT", "Thu, 1 Jan 2026", "2026-01-01T00:01:00Z"]) {
    assert.equal(retryAfterMs(rubbish, nowMs), null, rubbish);
  }
});

test("a schedule of zeros waits a second between two attempts", () => {
  assert.deepEqual(judgeAttempt(failed, 1, [0, 0, 0]), { outcome: "retry", delayMs: 1_000 });
  assert.deepEqual(judgeAttempt(failed, 1, [0, 0, 0], 0, 0), { outcome: "retry", delayMs: 0 });
});

test("a receiver ends a message or an endpoint with a header, and an acknowledgement stays one", () => {
  const said = (status: number, control: "abort-message" | "disable") => ({ ...answered(status), control });
  assert.equal(judgeAttempt(said(503, "abort-message"), 1).outcome, "exhausted");
  assert.equal(judgeAttempt(said(503, "disable"), 1).outcome, "gone");
  assert.equal(judgeAttempt(said(200, "disable"), 1).outcome, "succeeded");
  assert.equal(judgeAttempt(said(200, "abort-message"), 1).outcome, "succeeded");
  assert.deepEqual(
    [said(200, "disable"), said(500, "disable"), answered(410), said(500, "abort-message"), answered(500)].map(
      disableReason,
    ),
    ["receiver", "receiver", "gone", null, null],
  );
  assert.deepEqual(
    ["abort-message", " Disable ", "abort-message, disable", ["x", "abort-message"], "stop", undefined].map(controlOf),
    ["abort-message", "disable", "disable", "abort-message", null, null],
  );
});
