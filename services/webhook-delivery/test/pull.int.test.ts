import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "@signalbox/storage";
import { eventually, type TestPerson, testPerson } from "@signalbox/testing";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { endpointsPath, startDelivery } from "./harness.ts";
import { delivery, shareOneService, who } from "./one-service.ts";

shareOneService();

interface Message {
  readonly lease_id: string;
  readonly delivery_id: string;
  readonly type: string;
  readonly attempt: number;
  readonly lease_ends_at: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const newEndpoint = (settings: object = {}, by: TestPerson = who) =>
  delivery.newEndpoint(by, { type: "pull", event_types: ["order.*"], settings });
const publish = async (...numbers: number[]) => {
  const body = numbers.map((number) => ({ type: "order.changed", subject: "a", data: { number } }));
  assert.equal((await delivery.send(who, "POST", "/api/v1/webhooks/events", { body })).status, 202);
};
const poll = (id: string, query = "", by: TestPerson = who) =>
  delivery.send(by, "GET", `${endpointsPath}/${id}/messages?${query}`);
const take = async (id: string, query = "wait_seconds=30"): Promise<Message[]> => {
  const { status, body, text } = await poll(id, query);
  assert.equal(status, 200, text);
  return body.items;
};
const end = (id: string, how: string, body: object, by: TestPerson = who) =>
  delivery.send(by, "POST", `${endpointsPath}/${id}/messages/${how}`, { body });
const leasesOf = (messages: readonly Message[]) => ({ lease_ids: messages.map(({ lease_id: lease }) => lease) });
const numbersOf = (messages: readonly Message[]) => messages.map(({ body }) => JSON.parse(body).data.number);

test("a message has the body and the signed headers of a push, and an acknowledgement ends it once", async () => {
  const { id, secret } = await newEndpoint();
  const [shown] = (await delivery.send(who, "GET", endpointsPath)).body.items;
  assert.deepEqual([shown.type, shown.url], ["pull", ""]);
  await publish(1);
  const [message] = await take(id);
  assert.ok(message);
  assert.ok(new StandardWebhook(secret).verify(message.body, message.headers));
  assert.equal(message.headers["X-Delivery-Id"] ?? message.headers["x-delivery-id"], message.delivery_id);
  assert.deepEqual(await take(id, ""), [], "one consumer holds it");

  const { body } = await end(id, "ack", leasesOf([message]));
  assert.deepEqual(body.items, [
    { lease_id: message.lease_id, decision: "succeeded", next_attempt_at: null, repeated: false },
  ]);
  const again = await end(id, "ack", leasesOf([message]));
  assert.deepEqual([again.status, again.body.items[0].repeated], [200, true]);
  const [stored] = await delivery.deliveriesOf(who);
  assert.deepEqual([stored?.status, stored?.attempts, stored?.endpoint_id], ["succeeded", 1, id]);
  const [attempt] = await delivery.attemptsOf(who, message.delivery_id);
  assert.deepEqual([attempt?.number, attempt?.status, attempt?.counted], [1, 200, true]);
  const given = await end(id, "nack", leasesOf([message]));
  assert.deepEqual(
    [given.status, given.body.error.details[0].field, given.body.error.details[0].code],
    [409, "lease_ids[0]", "transition_not_allowed"],
  );
});

test("a waiting poll is answered by the commit of an event, and one of two polls gets it", async () => {
  const { id } = await newEndpoint();
  const polls = [1, 2].map(() => poll(id, "wait_seconds=30&limit=1"));
  await publish(1);
  const first = await Promise.race(polls);
  assert.equal(first.body.items.length, 1);
  await publish(2);
  const answers = await Promise.all(polls);
  assert.deepEqual(answers.flatMap(({ body }) => numbersOf(body.items)).toSorted(), [1, 2]);
});

test("a message that is given back comes again after its delay, and its schedule bounds the attempts", async () => {
  const { id } = await newEndpoint({ retry_schedule_seconds: [0, 3_600] });
  await publish(1);
  const first = await take(id);
  const { body } = await end(id, "nack", { ...leasesOf(first), delay_seconds: 0, reason: "not now" });
  assert.equal(body.items[0].decision, "retry");
  const second = await take(id);
  assert.deepEqual([second[0]?.attempt, second[0]?.delivery_id], [2, first[0]?.delivery_id]);
  assert.equal((await end(id, "nack", leasesOf(second))).body.items[0].decision, "exhausted");
  const [stored] = await delivery.deliveriesOf(who);
  assert.deepEqual([stored?.status, stored?.attempts, stored?.last_error], ["exhausted", 2, "nack"]);
  const attempts = await delivery.attemptsOf(who, stored?.id ?? "");
  assert.deepEqual(
    attempts.map(({ error, response }) => [error, response]),
    [
      ["nack", null],
      ["nack", "not now"],
    ],
  );
});

test("a lease that ends is a failed attempt, and ending it later says what happened since", async () => {
  const { id } = await newEndpoint({ retry_schedule_seconds: [0, 0, 3_600] });
  await publish(1);
  const first = await take(id, "wait_seconds=30&lease_seconds=1");
  const second = await take(id);
  assert.deepEqual([second[0]?.attempt, second[0]?.delivery_id], [2, first[0]?.delivery_id]);
  const late = await end(id, "ack", leasesOf(first));
  assert.equal(late.status, 409);
  assert.equal(late.body.error.details[0].code, "expired");
  assert.match(late.body.error.details[0].message, /The lease has expired; attempt 2 is due/);
  // Of two leases the live one is acknowledged.
  const both = await end(id, "ack", leasesOf([...first, ...second]));
  assert.match(both.body.error.message, /^A lease ended before\. The other 1 ended as requested\.$/);
  assert.equal((await delivery.deliveriesOf(who))[0]?.status, "succeeded");
  assert.match((await end(id, "ack", leasesOf(first))).body.error.details[0].message, /attempt 2 was acknowledged/);
  const [, expired] = await delivery.attemptsOf(who, first[0]?.delivery_id ?? "");
  assert.deepEqual([expired?.error, expired?.status, expired?.number], ["lease-expired", null, 1]);
});

test("an extended lease outlives its first end", async () => {
  const { id } = await newEndpoint({ retry_schedule_seconds: [0, 0] });
  await publish(1, 2);
  const taken = await take(id, "wait_seconds=30&lease_seconds=1");
  const [kept, left] = taken;
  assert.ok(kept && left);
  const { body } = await end(id, "extend", { ...leasesOf([kept]), lease_seconds: 600 });
  assert.ok(Date.parse(body.items[0].lease_ends_at) > Date.parse(kept.lease_ends_at) + 500_000);
  const again = await take(id);
  assert.deepEqual(numbersOf(again), numbersOf([left]));
  assert.equal((await end(id, "ack", leasesOf([kept]))).status, 200);
  const gone = await end(id, "extend", { ...leasesOf([kept]), lease_seconds: 600 });
  assert.deepEqual([gone.status, gone.body.error.details[0].code], [409, "transition_not_allowed"]);
});

test("an ordered pull endpoint gives one message of a subject at a time, in order", async () => {
  const { id } = await newEndpoint({ ordered: true, retry_schedule_seconds: [0, 0, 0] });
  await publish(1, 2, 3);
  const seen: number[] = [];
  for (let round = 0; round < 4; round++) {
    const taken = await take(id);
    assert.equal(taken.length, 1);
    assert.deepEqual(await take(id, ""), [], "the next one waits for this one");
    seen.push(...numbersOf(taken));
    await end(id, round === 1 ? "nack" : "ack", leasesOf(taken));
  }
  assert.deepEqual(seen, [1, 2, 2, 3]);
});

test("while an endpoint is paused a poll stays empty, and leases that are out can still be ended", async () => {
  const { id } = await newEndpoint();
  await publish(1);
  const [message] = await take(id);
  await publish(2);
  await delivery.send(who, "POST", `${endpointsPath}/${id}/pause`);
  assert.deepEqual(await take(id, ""), []);
  assert.equal((await end(id, "ack", leasesOf([message as Message]))).status, 200);
  const waiting = take(id);
  await delivery.send(who, "POST", `${endpointsPath}/${id}/resume`);
  assert.deepEqual(numbersOf(await waiting), [2]);
});

test("max_in_flight bounds the messages in the hands of consumers, and a rate what they get", async () => {
  const { id } = await newEndpoint({ max_in_flight: 2 });
  await publish(1, 2, 3);
  const taken = await take(id);
  assert.equal(taken.length, 2);
  assert.deepEqual(await take(id, ""), []);
  await end(id, "ack", leasesOf(taken));
  assert.equal((await take(id)).length, 1);
  await delivery.send(who, "DELETE", `${endpointsPath}/${id}`);

  const limited = await newEndpoint({ rate: { limit: 1, per_seconds: 3_600 } });
  await publish(4, 5);
  assert.equal((await take(limited.id)).length, 1);
  assert.deepEqual(await take(limited.id, ""), []);
});

test("a retry and a replay give the message again", async () => {
  const { id } = await newEndpoint();
  await publish(1);
  const first = await take(id);
  await end(id, "ack", leasesOf(first));
  const waiting = take(id);
  await delivery.send(who, "POST", `/api/v1/webhooks/deliveries/${first[0]?.delivery_id}/retry`);
  const again = await waiting;
  assert.deepEqual([again[0]?.delivery_id, again[0]?.attempt], [first[0]?.delivery_id, 2]);
  await end(id, "ack", leasesOf(again));
  const body = { endpoint_id: id, from: new Date(0).toISOString(), to: new Date(Date.now() + 60_000).toISOString() };
  const replay = await delivery.send(who, "POST", "/api/v1/webhooks/replays", { body });
  assert.equal(replay.status, 202, replay.text);
  const [replayed] = await take(id);
  assert.equal(replayed?.headers["X-Replay-Id"], replay.body.id);
});

type Answer = ReturnType<typeof poll>;
const created = (body: object) => (): Answer =>
  delivery.send(who, "POST", endpointsPath, { body: { event_types: ["order.*"], ...body } });
const polled = (query: string) => async () => poll((await newEndpoint()).id, query);
const ended = (how: string, body: object) => async () => end((await newEndpoint()).id, how, body);
const unknownLease = { lease_ids: ["wha_01kdzq7c9p4r6s8t0v2w5x7y1z"] };
const manyLeases = { lease_ids: Array.from({ length: 101 }, (_, nth) => `${nth}`) };

const refusals: readonly [what: string, request: () => Answer, status: number, field?: string][] = [
  ["a push endpoint without a URL", created({}), 422, "url"],
  ["a pull endpoint with one", created({ type: "pull", url: "https://a.example/" }), 422, "url"],
  [
    "a deadline of a connection that is never made",
    created({ type: "pull", settings: { timeout_seconds: 5 } }),
    422,
    "settings.timeout_seconds",
  ],
  ["a wait beyond the maximum", polled("wait_seconds=31"), 400, "wait_seconds"],
  ["a wait of less than nothing", polled("wait_seconds=-1"), 400, "wait_seconds"],
  ["a wait that is no number", polled("wait_seconds=soon"), 400, "wait_seconds"],
  ["a lease of over an hour", polled("lease_seconds=3601"), 400, "lease_seconds"],
  ["more credit than a stream has", polled("credit=101"), 400, "credit"],
  ["a consumer whose name is none", polled("consumer=a%3Ab"), 400, "consumer"],
  ["a consumer that nobody made", polled("consumer=billing"), 404],
  ["a cursor, of another list or of none", polled("cursor=W10"), 400, "cursor"],
  ["too many messages", polled("limit=101"), 400, "limit"],
  ["an extension of over an hour", ended("extend", { lease_ids: ["x"], lease_seconds: 3_601 }), 422, "lease_seconds"],
  ["a delay of over a day", ended("nack", { lease_ids: ["x"], delay_seconds: 86_401 }), 422, "delay_seconds"],
  ["more leases than one request may end", ended("ack", manyLeases), 422, "lease_ids"],
  ["an unknown lease", ended("ack", unknownLease), 404, "lease_ids[0]"],
  ["a text that is no lease", ended("extend", { lease_ids: ["x"], lease_seconds: 5 }), 404, "lease_ids[0]"],
  ["a lease that is named twice", ended("ack", { lease_ids: ["a", "a"] }), 422, "lease_ids"],
  ["no lease", ended("nack", { lease_ids: [] }), 422, "lease_ids"],
  ["an unknown endpoint", () => poll("whe_01kdzq5a7m2n4p6q8r0s1t3v5w"), 404],
  ["an endpoint of another account", async () => poll((await newEndpoint()).id, "", testPerson()), 404],
  [
    "a test of a pull endpoint",
    async () => delivery.send(who, "POST", `${endpointsPath}/${(await newEndpoint()).id}/test`),
    409,
  ],
];
for (const [what, request, status, field] of refusals) {
  test(`${what} is refused with ${status}`, async () => {
    const answer = await request();
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    assert.equal(answer.body.error.details?.[0]?.field, field);
  });
}

test("no refused request leaves a lease behind or moves one", async () => {
  const { id } = await newEndpoint();
  await publish(1);
  for (const query of ["wait_seconds=31", "limit=0", "lease_seconds=0", "consumer=nobody", "credit=0"]) {
    assert.ok((await poll(id, query)).status >= 400, query);
  }
  const [message] = await take(id, "lease_seconds=3600");
  assert.ok(message, "nothing holds it");
  for (const body of [
    { lease_ids: [message.lease_id, message.lease_id] },
    { lease_ids: [message.lease_id], more: 1 },
  ]) {
    assert.equal((await end(id, "ack", body)).status, 422);
  }
  assert.equal((await end(id, "ack", leasesOf([message]))).body.items[0].repeated, false, "it was still live");
});

test("a lease of another endpoint, or of another account, is unknown and stays live", async () => {
  const [own, other] = [await newEndpoint(), await newEndpoint()];
  await publish(1);
  const [message] = await take(own.id);
  const leases = leasesOf([message as Message]);
  assert.equal((await end(other.id, "ack", leases)).status, 404);
  assert.equal((await end(own.id, "ack", leases, testPerson())).status, 404);
  assert.equal((await end(own.id, "ack", leases)).body.items[0].repeated, false);
});

test("two requests that end one lease at the same time have one effect, and both are told of it", async () => {
  const { id } = await newEndpoint();
  await publish(1);
  const leases = leasesOf(await take(id));
  const answers = await Promise.all([1, 2, 3].map(() => end(id, "ack", leases)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal(answers.filter(({ body }) => !body.items[0].repeated).length, 1);
  assert.equal((await delivery.deliveriesOf(who))[0]?.attempts, 1);
});

test("polls side by side share the messages, and each ends its own at once", async () => {
  const { id } = await newEndpoint();
  const numbers = Array.from({ length: 100 }, (_, index) => index);
  for (let round = 0; round < 8; round++) await publish(...numbers.map((number) => round * 100 + number));
  const seen: number[] = [];
  const consume = async () => {
    for (let taken = await take(id, "limit=50"); taken.length > 0; taken = await take(id, "limit=50")) {
      seen.push(...numbersOf(taken));
      const { status, text } = await end(id, "ack", leasesOf(taken));
      assert.equal(status, 200, text);
    }
  };
  await Promise.all([consume(), consume(), consume(), consume()]);
  assert.deepEqual(
    seen.toSorted((one, other) => one - other),
    Array.from({ length: 800 }, (_, index) => index),
  );
});

const consumerPath = (id: string, name: string) => `${endpointsPath}/${id}/consumers/${name}`;
const put = (id: string, name: string, from?: string) =>
  delivery.send(who, "PUT", consumerPath(id, name), { body: { from } });
const consumersOf = async (id: string) =>
  (await delivery.send(who, "GET", `${endpointsPath}/${id}/consumers`)).body.items;

test("consumers read the same stream at their own places, each with its attempts and its lag", async () => {
  const { id, secret } = await newEndpoint();
  const made = await put(id, "billing");
  assert.equal(made.status, 204, made.text);
  await publish(1, 2);
  const billing = await take(id, "wait_seconds=30&consumer=billing");
  assert.deepEqual(numbersOf(billing), [1, 2]);
  assert.ok(new StandardWebhook(secret).verify(billing[0]?.body ?? "", billing[0]?.headers ?? {}));
  assert.deepEqual(await take(id, "consumer=billing"), [], "one live lease for each message and consumer");
  assert.equal((await end(id, "ack", leasesOf(billing.slice(0, 1)))).status, 200);
  const own = await take(id);
  assert.deepEqual(numbersOf(own), [1, 2]);
  assert.deepEqual(
    (await consumersOf(id)).map(({ name, lag, leased, status }: Record<string, unknown>) => [
      name,
      lag,
      leased,
      status,
    ]),
    [
      [null, 2, 2, "ready"],
      ["billing", 1, 1, "ready"],
    ],
  );
  const listed = await delivery.deliveriesOf(who, `&endpoint_id=${id}&status=succeeded`);
  assert.deepEqual(
    listed.map((one) => [one.endpoint_id, (one as { consumer?: string }).consumer]),
    [[id, "billing"]],
  );
  const text =
    "query($of: [_Any!]!) { _entities(representations: $of) { ... on WebhookEndpoint { consumers { name from lag } } } }";
  const { data } = await delivery.graphql(who, text, { of: [{ __typename: "WebhookEndpoint", id }] });
  assert.deepEqual(data._entities[0].consumers[1], { name: "billing", from: "now", lag: 1 });
  assert.deepEqual(
    (await delivery.send(who, "GET", endpointsPath)).body.items.map((one: { id: string }) => one.id),
    [id],
    "consumers are no endpoints",
  );
});

test("a consumer starts at a time or an event, and gets what came before in the order of its subjects", async () => {
  const { id } = await newEndpoint({ ordered: true });
  await publish(1);
  const [first] = await take(id);
  await end(id, "ack", leasesOf([first as Message]));
  await publish(2, 3);
  assert.equal((await put(id, "late", new Date(0).toISOString())).status, 204);
  await publish(4);
  const seen: unknown[] = [];
  while (seen.length < 4) {
    const taken = await take(id, "wait_seconds=30&consumer=late");
    assert.equal(taken.length, 1);
    seen.push(...taken.map(({ body, headers }) => [JSON.parse(body).data.number, headers["X-Sequence"]]));
    await end(id, "ack", leasesOf(taken));
  }
  assert.deepEqual(
    seen,
    [1, 2, 3, 4].map((number) => [number, String(number)]),
  );
  assert.equal((await put(id, "from-event", JSON.parse(first?.body ?? "").id)).status, 204);
  assert.deepEqual(numbersOf(await take(id, "wait_seconds=30&consumer=from-event")), [1]);
});

test("a paused endpoint holds its consumers too, a deleted consumer is gone, and one without a start has another", async () => {
  const { id } = await newEndpoint();
  await put(id, "a");
  await delivery.send(who, "POST", `${endpointsPath}/${id}/pause`);
  await publish(1);
  assert.deepEqual(await take(id, "consumer=a"), []);
  await delivery.send(who, "POST", `${endpointsPath}/${id}/resume`);
  assert.equal((await take(id, "wait_seconds=30&consumer=a")).length, 1);
  assert.equal((await put(id, "a", "now")).status, 204, "the same start changes nothing");
  assert.equal((await put(id, "a", new Date(0).toISOString())).status, 409);
  assert.equal((await put(id, "b", "yesterday")).body.error.details[0].field, "from");
  assert.equal((await put(id, "B")).status, 404);
  assert.equal((await delivery.send(who, "DELETE", consumerPath(id, "a"))).status, 204);
  assert.equal((await poll(id, "consumer=a")).status, 404);
  assert.equal((await delivery.send(who, "DELETE", consumerPath(id, "a"))).status, 404);
  assert.equal((await delivery.send(testPerson(), "PUT", consumerPath(id, "a"), { body: {} })).status, 404);
  await eventually(async () => (await put(id, "a")).status === 204, { message: "the name is free again" });
  await delivery.send(who, "DELETE", `${endpointsPath}/${id}`);
  await eventually(async () => {
    const { rows } = await delivery.pool.query(
      sql(
        "",
        "select from delivery_queue where endpoint_id like $1 union all select from pull_consumers where endpoint_id like $1",
      ),
      [`${id}%`],
    );
    return rows.length === 0;
  });
});

test("an instance with too many waits answers 503, and an endpoint with too many consumers 409", async () => {
  const small = await startDelivery({
    "webhook-delivery.pull.waits-max": "1",
    "webhook-delivery.pull.consumers-max": "1",
  });
  try {
    const [owner, other] = [testPerson(), testPerson()];
    const open = async (by: TestPerson) =>
      (await small.newEndpoint(by, { type: "pull", event_types: ["order.*"] })).id as string;
    const [id, theirs] = [await open(owner), await open(other)];
    const pathOf = (endpoint: string) => `${endpointsPath}/${endpoint}/messages?wait_seconds=30`;
    const polls = [small.send(owner, "GET", pathOf(id)), small.send(other, "GET", pathOf(theirs))];
    const refused = await Promise.race(polls);
    assert.equal(refused.status, 503);
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    assert.equal((await small.send(owner, "GET", `${endpointsPath}/${id}/messages`)).status, 200, "it does not wait");
    const put = (name: string) => small.send(owner, "PUT", `${endpointsPath}/${id}/consumers/${name}`, { body: {} });
    assert.equal((await put("first")).status, 204);
    const { status, body } = await put("second");
    assert.deepEqual([status, body.error.code, body.error.details[0].code], [409, "conflict", "too_many"]);
    await small.context.close();
    await Promise.all(polls);
  } finally {
    await small.close();
  }
});

test("an account with too many waits gets 429, and a process that leaves ends its waits with an empty list", async () => {
  const small = await startDelivery({ "webhook-delivery.pull.waits-max-per-account": "1" });
  try {
    const owner = testPerson();
    const { id } = await small.newEndpoint(owner, { type: "pull", event_types: ["order.*"] });
    const path = `${endpointsPath}/${id}/messages?wait_seconds=30`;
    const polls = [1, 2].map(() => small.send(owner, "GET", path));
    const refused = await Promise.race(polls);
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    await small.context.close();
    const answer = (await Promise.all(polls)).find(({ status }) => status === 200);
    assert.deepEqual(answer?.body, { items: [] });
  } finally {
    await small.close();
  }
});
