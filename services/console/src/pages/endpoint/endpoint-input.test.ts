import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyOf, emptyInput, withoutSecrets } from "./endpoint-input.ts";

test("lists are read with commas, spaces or lines; an empty field leaves a setting to the service", () => {
  const body = bodyOf({ ...emptyInput, eventTypes: "image.*\n order.paid, ", retrySchedule: "5, 300" });
  assert.deepEqual(body.event_types, ["image.*", "order.paid"]);
  assert.equal(body.settings.timeout_seconds, null);
  assert.deepEqual(body.settings.retry_schedule_seconds, [5, 300]);
});

test("what cannot be sent is refused with the name of its field", () => {
  assert.throws(() => bodyOf({ ...emptyInput, filter: "{" }), /^Error: Filter: this is not JSON/);
  assert.throws(() => bodyOf({ ...emptyInput, timeoutSeconds: "soon" }), /^Error: Timeout: “soon” is not a number/);
});

test("a rate needs its limit, an empty secret header keeps its value, a removed text becomes null", () => {
  const headers = [
    { name: " X-Team ", value: "blue", secret: false },
    { name: "Authorization", value: "", secret: true },
    { name: "", value: "", secret: false },
  ];
  const metadata = [{ name: "plan", value: "pro", secret: false }];
  const input = { ...emptyInput, rateLimit: "10", rateSeconds: "60", headers, metadata };
  const { settings } = bodyOf(input, { settings: { metadata: { plan: "free", owner: "ada" } } } as never);
  assert.deepEqual(settings.rate, { limit: 10, per_seconds: 60 });
  assert.deepEqual(settings.headers, [
    { name: "X-Team", value: "blue", secret: false },
    { name: "Authorization", value: null, secret: true },
  ]);
  assert.deepEqual(settings.metadata, { plan: "pro", owner: null });
  assert.equal(bodyOf(emptyInput).settings.rate, null);
});

const pair = { ...emptyInput, certificate: "PEM", certificateKey: "KEY" };

test("a certificate is sent only when a pair was typed or it is taken away", () => {
  assert.equal("client_certificate" in bodyOf(emptyInput).settings, false);
  assert.equal(bodyOf({ ...emptyInput, isWithoutCertificate: true }).settings.client_certificate, null);
  assert.deepEqual(bodyOf(pair).settings.client_certificate, { certificate: "PEM", key: "KEY" });
});

test("no typed secret is kept for the session or shown beside another version", () => {
  const headers = [{ name: "Authorization", value: "hidden", secret: true }];
  assert.doesNotMatch(JSON.stringify(withoutSecrets({ ...pair, headers })), /KEY|hidden/);
});
