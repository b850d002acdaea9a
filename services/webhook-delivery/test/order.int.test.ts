import assert from "node:assert/strict";
import { test } from "node:test";
import { hours, randomId } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import { keepDeliveryDays } from "../src/deliveries/delivery-days.ts";
import { grantAttempts } from "../src/sending/endpoint-rates.ts";
import { endpointsPath, type Harness } from "./harness.ts";
import { delivery, other, receiver, shareTwoServices, who } from "./one-service.ts";

shareTwoServices();

const newEndpoint = (settings: object = {}) =>
  delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*"], settings: { ordered: true, ...settings } });
const publish = async (through: Harness, subject: string | undefined, ...numbers: number[]) => {
  const body = numbers.map((number) => ({ type: "order.changed", subject, data: { number } }));
  assert.equal((await through.send(who, "POST", "/api/v1/webhooks/events", { body })).status, 202);
};
/** The posted events, in the order of arrival. */
const posted = (requests = receiver.requests) =>
  requests.map(({ headers, body }) => {
    const { subject, data } = JSON.parse(body.toString());
    return { subject, number: data.number, sequence: headers["x-sequence"], id: headers["x-delivery-id"] };
  });
const inStatus = (status: string, count: number) =>
  eventually(async () => {
    const found = await delivery.deliveriesOf(who, `&status=${status}`);
    return found.length === count && found;
  });
const act = ({ id }: { id: string }, action: string) => delivery.send(who, "POST", `${endpointsPath}/${id}/${action}`);

test("two instances deliver one event of a subject at a time, in order, and only that subject waits", async () => {
  const subjects = ["a", "b", "c", "d"];
  const open = new Set<string>();
  const overlaps: string[] = [];
  const failures = new Map<string, number>();
  const gate = Promise.withResolvers<void>();
  receiver.answer(async ({ body }) => {
    const { subject, data } = JSON.parse(body.toString());
    if (open.has(subject)) overlaps.push(`${subject} ${data.number}`);
    open.add(subject);
    // The first of `d` is answered when everything else has arrived.
    if (subject === "d") await gate.promise;
    open.delete(subject);
    const failed = failures.get(`${subject} ${data.number}`) ?? 0;
    failures.set(`${subject} ${data.number}`, failed + 1);
    return { status: data.number % 5 === 0 && failed === 0 ? 503 : 200, delayMs: data.number % 3 };
  });
  await newEndpoint({ retry_schedule_seconds: [0, 0, 0, 0] });
  const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
  for (const number of numbers) {
    const through = number % 2 === 0 ? delivery : other;
    for (const subject of subjects) await publish(through, subject, number);
  }
  await inStatus("succeeded", 60);
  gate.resolve();
  await inStatus("succeeded", 80);
  assert.deepEqual(overlaps, []);
  for (const subject of subjects) {
    const own = posted().filter((one) => one.subject === subject);
    assert.deepEqual([...new Set(own.map(({ number }) => number))], numbers, subject);
    assert.ok(own.every(({ number, sequence }) => sequence === String(number)));
    assert.equal(own.length, 24, "those that failed came twice, before the next");
    assert.deepEqual(
      own.map(({ number }) => number),
      own.map(({ number }) => number).toSorted((one, next) => one - next),
    );
  }
});

test("events of one request keep their order, and those without a subject have none", async () => {
  await newEndpoint();
  await publish(delivery, "a", 1, 2, 3);
  await publish(other, undefined, 7);
  await inStatus("succeeded", 4);
  assert.deepEqual(
    posted()
      .filter(({ subject }) => subject === "a")
      .map(({ sequence }) => sequence),
    ["1", "2", "3"],
  );
  assert.equal(posted().find(({ number }) => number === 7)?.sequence, undefined);
});

test("a delivery that fails beyond the hold time is parked with an event, its subject goes on, and a retry delivers it", async () => {
  receiver.answerNext({ status: 500 });
  await newEndpoint({ retry_schedule_seconds: [0, 3_600], order_hold_seconds: 1 });
  await publish(delivery, "a", 1);
  await receiver.waitFor(() => true);
  await publish(other, "a", 2, 3);
  await inStatus("succeeded", 2);
  const [parked] = await inStatus("parked", 1);
  assert.deepEqual([parked?.last_status, parked?.last_error, parked?.attempts], [500, "order-hold", 1]);
  const [event] = await delivery.eventsOf(who.accountId, 1, "webhook_delivery.parked");
  assert.equal((event?.data as { id?: string } | undefined)?.id, parked?.id);
  await delivery.send(who, "POST", `/api/v1/webhooks/deliveries/${parked?.id}/retry`);
  await inStatus("succeeded", 3);
  assert.deepEqual(
    posted().map(({ sequence }) => sequence),
    ["1", "2", "3", "1"],
  );
});

test("ordered deliveries are replayed in order, and a retried one waits for its turn", async () => {
  const { id } = await newEndpoint({ retry_schedule_seconds: [0, 3_600] });
  await publish(delivery, "a", 1, 2, 3, 4);
  const made = await inStatus("succeeded", 4);
  receiver.clear();
  const gate = Promise.withResolvers<void>();
  receiver.answer(async (_, index) => {
    if (index === 0) await gate.promise;
    return { status: 200 };
  });
  await publish(other, "a", 5);
  await receiver.waitFor(() => true);
  const body = { endpoint_id: id, from: "2020-01-01T00:00:00Z" };
  const started = await delivery.send(who, "POST", "/api/v1/webhooks/replays", { body });
  assert.equal(started.status, 202);
  await eventually(
    async () =>
      (await delivery.send(who, "GET", `/api/v1/webhooks/replays/${started.body.id}`)).body.status !== "running",
  );
  // A second time is no second place.
  const oldest = made.find(({ id: one }) => one === made.at(-1)?.id)?.id;
  assert.equal((await other.send(who, "POST", `/api/v1/webhooks/deliveries/${oldest}/retry`)).status, 202);
  assert.equal(receiver.requests.length, 1, "everything else of the subject waits");
  gate.resolve();
  await inStatus("succeeded", 5);
  assert.deepEqual(
    posted().map(({ sequence }) => sequence),
    ["5", "1", "2", "3", "4"],
  );
});

test("waiting deliveries keep their order through a pause, and after the endpoint stops being ordered", async () => {
  const endpoint = await newEndpoint();
  await act(endpoint, "pause");
  await publish(delivery, "a", 1, 2);
  await publish(other, "a", 3, 4);
  await inStatus("held", 4);
  const settings = { ordered: false };
  assert.equal(
    (await delivery.send(who, "PATCH", `${endpointsPath}/${endpoint.id}`, { body: { settings } })).status,
    200,
  );
  await act(endpoint, "resume");
  await inStatus("succeeded", 4);
  assert.deepEqual(
    posted().map(({ sequence }) => sequence),
    ["1", "2", "3", "4"],
  );
  await publish(delivery, "a", 5);
  await inStatus("succeeded", 5);
  assert.equal(posted().at(-1)?.sequence, undefined);
  await delivery.send(who, "DELETE", `${endpointsPath}/${endpoint.id}`);
  const left = sql("", "select 1 from delivery_order where endpoint_id = $1");
  await eventually(async () => (await delivery.pool.query(left, [endpoint.id])).rowCount === 0);
});

test("deliveries behind an expired one go out", async () => {
  receiver.answerNext({ status: 500 });
  const endpoint = await newEndpoint({ retry_schedule_seconds: [0, 3_600] });
  await publish(delivery, "a", 1);
  await publish(delivery, "a", 2);
  const isPostponed = sql("", "select 1 from delivery_queue where endpoint_id = $1 and hold_until is not null");
  await eventually(async () => (await delivery.pool.query(isPostponed, [endpoint.id])).rowCount === 1);
  // As if it came long ago: the hour after it would otherwise take a month.
  const age = sql("", "update delivery_queue set created_at = 'epoch' where endpoint_id = $1 and due_at < 'infinity'");
  await delivery.pool.query(age, [endpoint.id]);
  await keepDeliveryDays(delivery.pool, delivery.context.clock, () => hours(720));
  await inStatus("succeeded", 1);
});

test("a rate holds over two instances, and waiting for it spends no attempt", async () => {
  const rate = { limit: 20, per_seconds: 1 };
  await newEndpoint({ ordered: false, rate, retry_schedule_seconds: [0, 0] });
  receiver.answer(({ body }) => ({ status: JSON.parse(body.toString()).data.number === 1 ? 503 : 200 }));
  const numbers = Array.from({ length: 30 }, (_, index) => index + 1);
  const beganMs = performance.now();
  await Promise.all([publish(delivery, undefined, ...numbers), publish(other, undefined, ...numbers)]);
  const made = await inStatus("succeeded", 58);
  assert.ok(made.every(({ attempts }) => attempts === 1));
  await inStatus("exhausted", 2);
  assert.equal(receiver.requests.length, 62, "a retry is an attempt, too");
  // The first goes at once, and a late caller may catch up by one.
  assert.ok(performance.now() - beganMs >= 60 * 50);
});

test("two instances that ask in turn, each too late, use a rate in full", async () => {
  const [id, rate] = [randomId("whe"), { limit: 100, per_seconds: 10 }];
  const pools = [delivery.pool, other.pool] as const;
  const passTime = sql("", "update endpoint_rates set next_at = next_at - $2 * interval '1 ms' where endpoint_id = $1");
  let [passedMs, granted] = [0, 0];
  for (let turn = 0; passedMs < 20_000; turn++) {
    const rooms = new Map([[id, 16]]);
    const nextInMs = await grantAttempts(pools[turn % 2 === 0 ? 0 : 1], rooms, new Map([[id, rate]]));
    granted += rooms.get(id) ?? 0;
    // Time that really passes only adds to what is granted.
    const askedAgainMs = nextInMs + 400;
    await delivery.pool.query(passTime, [id, askedAgainMs]);
    passedMs += askedAgainMs;
  }
  assert.ok(granted >= 0.95 * (passedMs / 100), `${granted} attempts in ${passedMs} ms`);
});
