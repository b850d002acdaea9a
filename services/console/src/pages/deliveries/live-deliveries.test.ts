import assert from "node:assert/strict";
import { test } from "node:test";
import { type DeliveryRow, joined, type LiveAttempt, type ToldRows, withAttempts } from "./live-deliveries.ts";

/** The time of an event in an id of a delivery, as the service writes it. */
const idAt = (ms: number, name: string): string => {
  const digits = "0123456789abcdefghjkmnpqrstvwxyz";
  let time = "";
  for (let rest = ms; time.length < 10; rest = Math.floor(rest / 32)) time = digits[rest % 32] + time;
  return `whd_${time}${name.padEnd(16, "0")}`;
};
const attempt = (deliveryId: string, number: number, outcome: string): LiveAttempt => ({
  event: { id: `${deliveryId} ${number}`, occurredAt: "2026-01-01T00:00:00.000Z" },
  deliveryId,
  endpointId: "whe_1",
  eventType: "order.paid",
  number,
  outcome,
  status: outcome === "succeeded" ? 200 : 500,
  error: null,
});
const none: ToldRows = new Map();
const show = (read: readonly DeliveryRow[], told: ToldRows, search = {}, max = 25) =>
  joined(read, told, { askedAtMs: 0, max, search }).map(({ id, status, attempts }) => [id, status, attempts]);
const [first, second] = [idAt(1_000, "a"), idAt(2_000, "b")];

test("a new delivery comes on top at the time of its id; a later attempt changes its row", () => {
  const told = withAttempts(none, [attempt(first, 1, "retry"), attempt(second, 1, "succeeded")], 1);
  assert.deepEqual(show([], told), [
    [second, "succeeded", 1],
    [first, "pending", 1],
  ]);
  const [row] = joined([], told, { askedAtMs: 0, max: 1, search: {} });
  assert.equal(row?.created_at, new Date(2_000).toISOString());
  assert.deepEqual(show([], withAttempts(told, [attempt(first, 2, "exhausted")], 2)), [
    [second, "succeeded", 1],
    [first, "exhausted", 2],
  ]);
});

test("the newest state of a delivery counts, told or read, whatever comes late or twice", () => {
  const told = withAttempts(none, [attempt(first, 2, "succeeded"), attempt(first, 1, "retry")], 5);
  assert.deepEqual(show([], told), [[first, "succeeded", 2]]);
  const [read] = joined([], told, { askedAtMs: 0, max: 1, search: {} });
  assert.ok(read);
  const later = joined([{ ...read, status: "pending", attempts: 3 }], told, { askedAtMs: 0, max: 9, search: {} });
  assert.deepEqual([later[0]?.status, later[0]?.attempts], ["pending", 3]);
  assert.deepEqual(joined([], told, { askedAtMs: 6, max: 9, search: {} }), []);
});

test("the filters of the address hold for what is told", () => {
  const told = withAttempts(none, [attempt(first, 1, "retry"), attempt(second, 1, "succeeded")], 1);
  assert.deepEqual(show([], told, { status: "succeeded" }), [[second, "succeeded", 1]]);
  assert.deepEqual(show([], told, { type: "bill.*" }), []);
  assert.equal(show([], told, { type: "order.*" }).length, 2);
  assert.deepEqual(show([], told, { from: new Date(1_500).toISOString() }), [[second, "succeeded", 1]]);
  assert.deepEqual(show([], told, { to: new Date(1_500).toISOString() }), [[first, "pending", 1]]);
  assert.deepEqual(show([], told, { event_id: "evt_1" }), []);
  assert.deepEqual(show([], told, { endpoint_id: "whe_2" }), []);
});

test("neither rows nor memory grow without bound", () => {
  let many: ToldRows = none;
  for (let at = 0; at < 1_000; at++) many = withAttempts(many, [attempt(idAt(at, "x"), 1, "retry")], at);
  assert.equal(many.size, 100);
  assert.equal(show([], many).length, 25);
});
