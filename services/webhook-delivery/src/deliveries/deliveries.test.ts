import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogue } from "@signalbox/contracts";
import { hours, seconds } from "@signalbox/core";
import { judge } from "@signalbox/http";
import fc from "fast-check";
import { defaultScheduleMs } from "../endpoints/endpoint-settings.ts";
import { CreateEventTypeBody } from "../event-types/event-type.ts";
import { CustomEventBody, PublishBody } from "../events/custom-event.ts";
import type { OutgoingEvent } from "../events/outgoing-event.ts";
import { subscribersOf } from "../publishing/subscribers.ts";
import { originalOf } from "../sending/original-body.ts";
import type { SigningEndpoint } from "../sending/signing-endpoint.ts";
import { deliveryIdOf, eventTimeOf } from "./delivery-id.ts";
import { retryAfterMs } from "./retry-after.ts";
import { controlOf, disableReason, judgeAttempt } from "./retry-schedule.ts";

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

const time = new Date("2026-11-22T10:00:00.123Z");

test("a delivery of an event to an endpoint has one id, which contains the time of the event", () => {
  const id = deliveryIdOf("evt_1", time, "whe_1");
  assert.match(id, /^whd_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.equal(deliveryIdOf("evt_1", time, "whe_1"), id);
  assert.deepEqual(eventTimeOf(id), time);
  const others = [deliveryIdOf("evt_2", time, "whe_1"), deliveryIdOf("evt_1", time, "whe_2")];
  assert.equal(new Set([id, ...others]).size, 3);
  assert.ok(deliveryIdOf("evt_0", new Date(time.getTime() + 1), "whe_0") > id, "later events have greater ids");
});

test("a text that is no delivery id yields no time", () => {
  for (const id of ["", "whd_", "whd_1", `whe_${"0".repeat(26)}`, `whd_${"u".repeat(26)}`, `whd_${"z".repeat(26)}`]) {
    assert.equal(eventTimeOf(id), null, id);
  }
});

test("the filters and the delivery ids of many endpoints leave the process its turns", async () => {
  let filtered = 0;
  const filter = () => ++filtered % 2 === 0;
  const clock = { steadyMs: () => 2 * filtered };
  const createdAt = new Date();
  const settings = { api_version: null };
  const endpoints = Array.from({ length: 50 }, (_, at) => ({
    id: `whe_${at}`,
    eventTypes: ["*"],
    createdAt,
    settings,
    filter,
  }));
  const account = { accountId: "acc_1", endpoints: endpoints as unknown as SigningEndpoint[] };
  const event = {
    id: "evt_1",
    accountId: "acc_1",
    type: "order.created",
    names: ["order.created"],
    createdAt,
    version: 1,
  };
  let atFirstTurn = Number.NaN;
  setImmediate(() => {
    atFirstTurn = filtered;
  });
  const found = await subscribersOf(clock, [account as never], [event as unknown as OutgoingEvent]);
  assert.ok(atFirstTurn < filtered, `${atFirstTurn} of ${filtered}`);
  const subscribers = [...found.values()].flat();
  assert.equal(subscribers.length, 25);
  for (const { endpoint, deliveryId } of subscribers)
    assert.equal(deliveryId, deliveryIdOf("evt_1", createdAt, endpoint.id));
});

test("a clock that is an hour slow costs no endpoint what its account publishes", async () => {
  const createdAt = new Date();
  const endpoint = { id: "whe_1", eventTypes: ["*"], createdAt, settings: { api_version: null }, filter: () => true };
  const account = { accountId: "acc_1", endpoints: [endpoint as unknown as SigningEndpoint] };
  const subscribersNow = async (type: string) => {
    const event = {
      accountId: "acc_1",
      type,
      names: [type],
      createdAt: new Date(createdAt.getTime() - hours(1)),
      version: 1,
    };
    const found = await subscribersOf({ steadyMs: () => 0 }, [account as never], [event as unknown as OutgoingEvent]);
    return [...found.values()].flat().length;
  };
  assert.deepEqual(await Promise.all(["order.created", "image.updated"].map(subscribersNow)), [1, 0]);
});

const envelope = (data: string) =>
  Buffer.from(`{"id":"e","type":"webhook.received","data":${data},"api_version":"v1"}`);

test("JSON of a partner comes out byte for byte: digits, escapes, order and white space", () => {
  for (const payload of [
    `{"amount": 1.50, "id":12345678901234567890,\n "name":"\\u00e9 \\"}],"}`,
    `[1, {"data": {"payload": 2}}]`,
    `"a text: {"`,
    "17",
    "null",
    "{}",
  ]) {
    const before = `"note":"\\"data\\": {","headers":{"x-hook":"7","payload":"9"}`;
    const { body, headers } = originalOf(envelope(`{${before},"payload":${payload}}`));
    assert.deepEqual([body.toString(), headers], [payload, { "x-hook": "7", payload: "9" }]);
    assert.equal(originalOf(envelope(`{ "payload" : ${payload} , "z":1 }`)).body.toString(), payload);
  }
});

test("text and bytes come out as they were", () => {
  assert.equal(originalOf(envelope(`{"payload_text":"a=1&b=\\n"}`)).body.toString(), "a=1&b=\n");
  assert.deepEqual(originalOf(envelope(`{"payload_base64":"AP8="}`)).body, Buffer.of(0, 255));
});

const malformed = ["", "a..b", "_order", "a.b.c.d.e.f.g.h.i", "x".repeat(129), "bestellung.größe"];
// `audit.recorded` and `access.changed` were accepted: only the events that endpoints can subscribe to were reserved.
test("no event of the service, internal ones included, and none of the product can be published or declared", () => {
  const reserved = [...catalogue.map((event) => event.name), "signalbox", "signalbox.anything"];
  for (const name of [...reserved, ...malformed]) {
    assert.equal(CustomEventBody.safeParse({ type: name, data: {} }).success, false, name);
    assert.equal(CreateEventTypeBody.safeParse({ name }).success, false, name);
  }
  assert.equal(CustomEventBody.safeParse({ type: "order.created", data: {} }).success, true);
});

test("a publication that has none of the forms is refused with the names of the members at fault", () => {
  const faults = (body: unknown) => {
    const judged = judge(PublishBody, body);
    return judged.success ? [] : judged.details.map(({ field, code, message }) => [field, code, message] as const);
  };
  const good = { type: "order.created", data: {} };
  const [wrapped, ...more] = faults({ events: [good] });
  assert.deepEqual([wrapped?.[0], wrapped?.[1], more], ["events", "unknown_member", []]);
  assert.match(wrapped?.[2] ?? "", /no member `events`/);
  assert.deepEqual(faults({ type: "order.created" }), [["data", "required", "Is required."]]);
  assert.deepEqual(faults([good, { ...good, type: 1 }]), [["[1].type", "invalid_type", "Must be a string."]]);
  assert.equal(faults({ ...good, data: 1 })[0]?.[0], "data");
  assert.deepEqual(faults("x"), [["", "invalid", "Must match one of the documented forms."]]);
});
