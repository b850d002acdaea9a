import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { draft, eventOf } from "@signalbox/contracts";
import { sql } from "@signalbox/storage";
import { createReceiver, eventually, type ReceivedRequest, testPerson } from "@signalbox/testing";
import { type DeliveryView, endpointsPath } from "./harness.ts";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService({ "webhook-delivery.attempts.in-flight-max-per-endpoint": 4 });

/** Fast retries: the schedule is in seconds and allows zeros. */
const settings = { retry_schedule_seconds: [0, 0, 0, 0] };
const newEndpoint = (more: object = {}) => delivery.newEndpoint(who, { url: receiver.url, settings, ...more });
const act = ({ id }: { id: string }, action: string, body?: object) =>
  delivery.send(who, "POST", `${endpointsPath}/${id}/${action}`, body && { body });

/** Waits until the account's only delivery has this status. */
const deliveryIn = (status: string): Promise<DeliveryView> =>
  eventually(async () => {
    const [only, ...others] = await delivery.deliveriesOf(who);
    assert.equal(others.length, 0);
    assert.equal(only?.status, status);
    return only as DeliveryView;
  });

/** Signs as the documentation says, with node:crypto alone: our own library would prove itself. */
const sign = (key: string | Buffer, text: string, body: Buffer) =>
  createHmac("sha256", key).update(text).update(body).digest();

/** The signature the specification's headers should hold. */
function plainSignature({ headers, body }: ReceivedRequest, secret: string): string {
  return `sha256=${sign(secret, `${headers["x-timestamp"]}.`, body).toString("hex")}`;
}

/** The signature Standard Webhooks' header should hold. */
function standardSignature({ headers, body }: ReceivedRequest, secret: string): string {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const start = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`;
  return `v1,${sign(key, start, body).toString("base64")}`;
}

/** Fails unless both families of headers verify with the secret, and neither with another body. */
function assertSigned(request: ReceivedRequest, secret: string): void {
  assert.equal(request.headers["x-signature"], plainSignature(request, secret));
  assert.ok(String(request.headers["webhook-signature"]).split(" ").includes(standardSignature(request, secret)));
  const ageSeconds = Date.now() / 1000 - Number(request.headers["x-timestamp"]);
  assert.ok(Math.abs(ageSeconds) < 60, "the time is that of this attempt");
  const tampered = { ...request, body: Buffer.concat([request.body, Buffer.from(" ")]) };
  assert.notEqual(request.headers["x-signature"], plainSignature(tampered, secret));
}

test("an event reaches the endpoint once, in the envelope, signed in both families", async () => {
  const endpoint = await newEndpoint({ url: `${receiver.url}/hooks?key=1` });
  const id = await delivery.createImage(who.accountId);
  const made = await deliveryIn("succeeded");
  assert.equal(receiver.requests.length, 1);
  const request = await receiver.waitFor(() => true);
  assert.deepEqual([request.method, request.path], ["POST", "/hooks?key=1"]);
  assertSigned(request, endpoint.secret);
  const body = JSON.parse(request.body.toString());
  assert.deepEqual(Object.keys(body), ["id", "type", "created_at", "data", "api_version", "account_id"]);
  assert.deepEqual([body.type, body.data.id, body.api_version], ["image.created", id, "v1"]);
  assert.equal(body.account_id, who.accountId);
  const { headers } = request;
  assert.equal(headers["content-type"], "application/json");
  assert.deepEqual(
    [headers["x-event-type"], headers["x-delivery-id"], headers["webhook-id"]],
    ["image.created", made.id, body.id],
  );
  const [attempt] = await delivery.attemptsOf(who, made.id);
  assert.deepEqual([attempt?.number, attempt?.status, attempt?.error], [1, 200, null]);
  assert.ok(!JSON.stringify(delivery.context.logged).includes(endpoint.secret));
});

test("what a partner wrote reaches the subscriber with every digit", async () => {
  await newEndpoint({ event_types: ["webhook.received"] });
  const { payload: _, ...data } = eventOf("webhook.received").example;
  const payload = '{"id": 12345678901234567890, "rate":1e400}';
  await delivery.publish(
    draft("webhook.received", { subject: data.source_id, accountId: who.accountId, data, raw: { payload } }),
  );
  const { body } = await receiver.waitFor(() => true);
  assert.ok(body.toString().includes(`"payload":${payload}},"api_version":"v1"`), body.toString());
});

test("one event makes one delivery for each subscribed endpoint, and none for the others", async () => {
  const wanting = [
    await newEndpoint(),
    await newEndpoint({ event_types: ["image.*"] }),
    await newEndpoint({ event_types: ["*"] }),
  ];
  await newEndpoint({ event_types: ["account.updated"] });
  await delivery.newEndpoint(testPerson(), { url: receiver.url, event_types: ["*"] });
  await delivery.createImage(who.accountId);
  const ofImage = await eventually(async () => {
    const all = await delivery.deliveriesOf(who, "&status=succeeded");
    const found = all.filter(({ event_type }) => event_type === "image.created");
    return found.length >= 3 && found;
  });
  assert.deepEqual(ofImage.map(({ endpoint_id }) => endpoint_id).sort(), wanting.map(({ id }) => id).sort());
});

test("an endpoint gets no event older than itself and none about itself", async () => {
  const older = await newEndpoint({ event_types: ["*"] });
  const first = await delivery.createImage(who.accountId);
  await receiver.waitFor(({ body }) => body.includes(first));
  const newer = await newEndpoint({ event_types: ["*"] });
  await act(newer, "secret/rotate", {});
  const last = await delivery.createImage(who.accountId);
  const seenBy = async ({ id }: { id: string }) =>
    (await delivery.deliveriesOf(who, `&endpoint_id=${id}`)).map(({ event_type }) => event_type).sort();
  await eventually(async () => {
    assert.deepEqual(await seenBy(older), [
      "image.created",
      "image.created",
      "webhook_endpoint.created",
      "webhook_endpoint.updated",
    ]);
    assert.deepEqual(await seenBy(newer), ["image.created"]);
  });
  await receiver.waitFor(({ body }) => body.includes(last));
});

test("an event of a producer whose clock is behind reaches an endpoint that was created before it", async () => {
  await newEndpoint({ event_types: ["image.updated"] });
  const data = { ...eventOf("image.updated").example, title: "by a late clock" };
  const event = draft("image.updated", { subject: data.id, accountId: who.accountId, data });
  await delivery.publishAt(new Date(delivery.context.clock.nowMs() - 120_000), event);
  await receiver.waitFor(({ body }) => body.includes("by a late clock"));
});

test("a failure is tried again with the same bytes and delivery id, signed anew, until it succeeds", async () => {
  const endpoint = await newEndpoint();
  receiver.answerNext({ status: 500 }, { instead: "reset" }, { status: 429 });
  await delivery.createImage(who.accountId);
  const made = await deliveryIn("succeeded");
  assert.equal(made.attempts, 4);
  const [first, ...others] = receiver.requests;
  for (const again of others) {
    assert.deepEqual(again.body, first?.body);
    assert.equal(again.headers["x-delivery-id"], first?.headers["x-delivery-id"]);
    assertSigned(again, endpoint.secret);
  }
  const attempts = await delivery.attemptsOf(who, made.id);
  assert.deepEqual(attempts.map(({ number, status }) => [number, status]).reverse(), [
    [1, 500],
    [2, null],
    [3, 429],
    [4, 200],
  ]);
  const lines = await eventually(() => {
    const ofDelivery = delivery.context.logged.filter(({ delivery_id }) => delivery_id === made.id);
    return ofDelivery.length === 4 && ofDelivery;
  });
  assert.deepEqual(
    lines.map(({ msg, number, outcome }) => [msg, number, outcome]),
    ["retry", "retry", "retry", "succeeded"].map((outcome, index) => ["webhook attempt", index + 1, outcome]),
  );
});

test("after the last attempt the delivery is exhausted, and every endpoint but its own gets the event of it", async () => {
  receiver.answer({ status: 503 });
  const endpoint = await newEndpoint({ event_types: ["image.created", "webhook_delivery.*"] });
  const observer = await createReceiver();
  await newEndpoint({ url: observer.url, event_types: ["webhook_delivery.*"] });
  await delivery.createImage(who.accountId);
  const made = await eventually(async () => (await delivery.deliveriesOf(who, "&status=exhausted"))[0] ?? null);
  assert.deepEqual([made.attempts, made.last_status, made.next_attempt_at], [4, 503, null]);
  const [event] = await delivery.eventsOf(who.accountId, 1, "webhook_delivery.exhausted");
  const { id, endpoint_id } = (event?.data ?? {}) as { id?: string; endpoint_id?: string };
  assert.deepEqual([id, endpoint_id], [made.id, endpoint.id]);
  await observer.waitFor(({ headers }) => headers["x-event-type"] === "webhook_delivery.exhausted");
  assert.equal((await delivery.deliveriesOf(who, `&endpoint_id=${endpoint.id}`)).length, 1);
  await observer.close();
});

test("Retry-After postpones the next attempt beyond the schedule", async () => {
  receiver.answerNext({ status: 429, headers: { "retry-after": "3600" } });
  await newEndpoint();
  await delivery.createImage(who.accountId);
  const waiting = await eventually(async () => {
    const [only] = await delivery.deliveriesOf(who, "&status=pending");
    return only?.attempts === 1 && only;
  });
  const waitMs = Date.parse(waiting.next_attempt_at ?? "") - Date.now();
  assert.ok(waitMs > 3_500_000 && waitMs <= 3_600_000, String(waitMs));
});

test("a delayed first attempt shows its time from the start", async () => {
  await newEndpoint({ settings: { retry_schedule_seconds: [600, 5] } });
  await delivery.createImage(who.accountId);
  const waiting = await deliveryIn("pending");
  const waitMs = Date.parse(waiting.next_attempt_at ?? "") - Date.now();
  assert.ok(waitMs > 590_000 && waitMs <= 600_000, String(waitMs));
  assert.equal(waiting.attempts, 0);
});

test("the first 16 KiB of an answer are kept, even with U+0000 in it", async () => {
  receiver.answer({ status: 200, body: `\0${"x".repeat(20_000)}` });
  await newEndpoint();
  await delivery.createImage(who.accountId);
  const { id } = await deliveryIn("succeeded");
  const [attempt] = await delivery.attemptsOf(who, id);
  assert.equal(attempt?.response, `\ufffd${"x".repeat(16_383)}`);
});

test("while a rotation overlaps, deliveries carry the signatures of both secrets", async () => {
  const endpoint = await newEndpoint();
  const { secret } = (await act(endpoint, "secret/rotate", {})).body;
  await delivery.createImage(who.accountId);
  const request = await receiver.waitFor(() => true);
  assertSigned(request, secret);
  assert.equal(request.headers["x-signature-previous"], plainSignature(request, endpoint.secret));
  const both = [standardSignature(request, secret), standardSignature(request, endpoint.secret)];
  assert.deepEqual(String(request.headers["webhook-signature"]).split(" "), both);
});

test("a 410 to an attempt from before a change of its owner does not disable the endpoint", async () => {
  const { id } = await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*"] });
  const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  receiver.answer(async () => {
    asked.resolve();
    await gate.promise;
    return { status: 410 };
  });
  await delivery.send(who, "POST", "/api/v1/webhooks/events", { body: { type: "order.created", data: {} } });
  await asked.promise;
  for (const action of ["pause", "resume"])
    assert.equal((await delivery.send(who, "POST", `${endpointsPath}/${id}/${action}`)).status, 200);
  receiver.answer({ status: 200 });
  gate.resolve();
  await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === 1);
  assert.equal((await delivery.send(who, "GET", `${endpointsPath}/${id}`)).body.status, "enabled");
});

test("410 disables the endpoint, publishes an event, and holds deliveries until it is enabled again", async () => {
  receiver.answer({ status: 410 });
  const endpoint = await newEndpoint();
  await delivery.createImage(who.accountId);
  await deliveryIn("held");
  const { body } = await delivery.send(who, "GET", `${endpointsPath}/${endpoint.id}`);
  assert.deepEqual([body.status, body.disabled_reason], ["disabled", "gone"]);
  const [event] = await delivery.eventsOf(who.accountId, 1, "webhook_endpoint.disabled");
  assert.equal((event?.data as { reason?: string } | undefined)?.reason, "gone");
  assert.equal((await act(endpoint, "resume")).status, 409);
  await delivery.createImage(who.accountId);
  await eventually(async () => (await delivery.deliveriesOf(who, "&status=held")).length === 2);
  receiver.answer({ status: 200 });
  assert.equal((await act(endpoint, "enable")).body.disabled_reason, null);
  await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === 2);
});

test("a paused endpoint gets nothing, and everything once it is resumed", async () => {
  const endpoint = await newEndpoint();
  await act(endpoint, "pause");
  for (let count = 0; count < 3; count++) await delivery.createImage(who.accountId);
  await eventually(async () => (await delivery.deliveriesOf(who, "&status=held")).length === 3);
  assert.equal(receiver.requests.length, 0);
  await act(endpoint, "resume");
  await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === 3);
  assert.equal(receiver.requests.length, 3);
});

test("a suspended account's deliveries wait, and go when it is active again", async () => {
  await newEndpoint();
  await delivery.changeState(who.accountId, "suspended");
  await eventually(async () => (await delivery.send(who, "POST", endpointsPath, { body: {} })).status === 403);
  await delivery.createImage(who.accountId);
  const held = await deliveryIn("held");
  assert.deepEqual([held.attempts, held.next_attempt_at], [0, null]);
  await delivery.changeState(who.accountId, "active");
  await deliveryIn("succeeded");
  assert.equal(receiver.requests.length, 1);
});

test("an accepted webhook is delivered by its alias, unless its source does not forward", async () => {
  await newEndpoint({ event_types: ["received.hmac.order.*"] });
  const example = eventOf("webhook.received").example;
  for (const [delivery_id, event_type, forward] of [
    ["d-1", "order.created", true],
    ["d-2", "order.created", false],
    ["d-3", "refund.created", true],
    ["d-4", "order.paid", true],
  ] as const) {
    const received = { subject: "src_1", accountId: who.accountId, data: { ...example, delivery_id, event_type } };
    const kept = forward ? {} : { extensions: { forward: "false" } };
    await delivery.publish(draft("webhook.received", { ...received, ...kept }));
  }
  await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === 2);
  const bodies = receiver.requests.map(({ body }) => JSON.parse(body.toString()));
  assert.deepEqual(bodies.map(({ type, data }) => [type, data.delivery_id]).sort(), [
    ["webhook.received", "d-1"],
    ["webhook.received", "d-4"],
  ]);
});

test("concurrent attempts of an endpoint stay within its limit, and others do not wait for it", async () => {
  let [now, most] = [0, 0];
  const gate = Promise.withResolvers<void>();
  receiver.answer(async () => {
    most = Math.max(most, ++now);
    await gate.promise;
    now--;
    return {};
  });
  const other = await createReceiver();
  await newEndpoint({ settings: { ...settings, max_in_flight: 2, timeout_seconds: 30 } });
  await newEndpoint({ url: other.url });
  await Promise.all(Array.from({ length: 12 }, () => delivery.createImage(who.accountId)));
  await eventually(() => other.requests.length === 12, { message: "the quick one does not wait for the slow one" });
  await eventually(() => receiver.requests.length >= 2);
  assert.equal(receiver.requests.length, 2);
  gate.resolve();
  await eventually(() => receiver.requests.length === 12);
  assert.equal(most, 2);
  await other.close();
});

test("a purged account leaves no endpoint, no delivery and no event body behind, even from endpoints deleted before", async () => {
  const former = await newEndpoint();
  await delivery.createImage(who.accountId);
  await deliveryIn("succeeded");
  assert.equal((await delivery.send(who, "DELETE", `${endpointsPath}/${former.id}`)).status, 204);
  const endpoint = await newEndpoint();
  await delivery.createImage(who.accountId);
  await deliveryIn("succeeded");
  const events = sql("", "select count(*)::int as count from webhook_events where account_id = $1");
  const kept = async () => (await delivery.pool.query<{ count: number }>(events, [who.accountId])).rows[0]?.count;
  assert.notEqual(await kept(), 0);
  // Settings of a row from before these settings existed.
  const olderRow = sql("", "update endpoints set settings = '{}' where id = $1");
  await delivery.pool.query(olderRow, [endpoint.id]);
  const now = new Date().toISOString();
  const data = { id: who.accountId, created_at: now, deleted_at: now, changed: [] };
  await delivery.publish(draft("account.deleted", { subject: who.accountId, accountId: who.accountId, data }));
  await eventually(async () => (await delivery.send(who, "GET", `${endpointsPath}/${endpoint.id}`)).status === 404);
  assert.deepEqual(await delivery.deliveriesOf(who), []);
  await eventually(async () => (await kept()) === 0);
});
