import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Caller } from "@signalbox/auth";
import { linkTo } from "@signalbox/service";
import { serviceWith, testPerson } from "@signalbox/testing";
import { type Preset, presets } from "@signalbox/webhook-signatures";
import type { IngestService } from "../src/context/ingest-service.ts";
import { whyRepeated } from "../src/received/why-received.ts";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { type Scheme, secrets, sign, signedAs, type Webhook } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

type Source = Awaited<ReturnType<Harness["newSource"]>>;
const newSource = (who: ReturnType<typeof testPerson>, scheme: Scheme, settings = {}) =>
  ingest.newSource(who, { scheme, secret: secrets[scheme], settings });
const receivedOf = async (who: ReturnType<typeof testPerson>, { id }: Source) =>
  (await ingest.send(who, "GET", `${sourcesPath}/${id}/received`)).body.items;
const post = async (source: Source, ...webhooks: Webhook[]) => {
  for (const webhook of webhooks) {
    const { status } = await ingest.post(source, webhook);
    assert.ok(status >= 200 && status < 300, String(status));
  }
};
const withHeaders = (webhook: Webhook, headers: Record<string, string>): Webhook => ({
  ...webhook,
  headers: { ...webhook.headers, ...headers },
});

test("a captured webhook has one effect under any unsigned id or type", async () => {
  const who = testPerson();
  const source = await newSource(who, "hmac");
  const captured = sign("hmac", { id: "d-1", body: '{"paid":1}' });
  await post(source, captured);
  for (const id of ["d-2", "d-3"]) await post(source, withHeaders(captured, { "x-delivery-id": id }));
  await post(source, withHeaders(captured, { "x-delivery-id": "d-4", "x-event-type": "order.deleted" }));
  const { "x-delivery-id": _, ...nameless } = captured.headers;
  await post(source, { ...captured, headers: nameless });
  const items = await receivedOf(who, source);
  assert.deepEqual(
    items.map(({ delivery_id, delivery_id_signed, event_type_signed }: Record<string, unknown>) => [
      delivery_id,
      delivery_id_signed,
      event_type_signed,
    ]),
    [["d-1", false, false]],
  );
});

test("captured webhooks that arrive at once have one effect", async () => {
  const who = testPerson();
  const source = await newSource(who, "hmac");
  const captured = sign("hmac", { body: '{"paid":1}' });
  const copies = Array.from({ length: 20 }, (_, index) => withHeaders(captured, { "x-delivery-id": `d-${index}` }));
  await Promise.all(copies.map((copy) => post(source, copy)));
  assert.equal((await receivedOf(who, source)).length, 1);
});

test("a partner that sends a webhook again signs it anew, and it is a repetition by its id", async () => {
  const who = testPerson();
  const source = await newSource(who, "hmac");
  for (const ageSeconds of [5, 3, 0]) await post(source, sign("hmac", { id: "d-1", ageSeconds }));
  assert.equal((await receivedOf(who, source)).length, 1);
});

test("a signed id decides: an event that is sent again with other content is a repetition", async () => {
  const who = testPerson();
  const source = await newSource(who, "stripe");
  const event = (pending: number) => sign("stripe", { body: `{"id":"evt_7","pending_webhooks":${pending}}` });
  await post(source, event(2), event(1));
  const names = (await receivedOf(who, source)).map(({ delivery_id }: { delivery_id: string }) => delivery_id);
  assert.deepEqual(names, ["evt_7"]);
});

for (const [preset, body] of [
  [
    "calendly",
    (event: string) => `{"event":"invitee.${event}","payload":{"uri":"https://api.calendly.com/invitees/7"}}`,
  ],
  ["zoom", (event: string) => `{"event":"meeting.${event}","payload":{"object":{"uuid":"dj12vck6=="}}}`],
  ["paystack", (event: string) => `{"event":"charge.${event}","data":{"id":302961}}`],
] as const) {
  test(`${preset}: events about one subject are events of their own`, async () => {
    const who = testPerson();
    const { vector, ...known } = presets[preset] as Preset;
    const { secret } = vector;
    const source = await ingest.newSource(who, { preset, secret });
    const time = String(Math.floor(Date.now() / 1000));
    for (const event of ["created", "canceled"]) await post(source, signedAs(known, secret, body(event), time));
    assert.equal((await receivedOf(who, source)).length, 2);
  });
}

test("an id that names a subject is counted with the content, and its repetitions add none", async () => {
  const who = testPerson();
  const source = await newSource(who, "stripe", { repetition_by: "id_and_content" });
  const [created, paid] = ['{"id":"order_7","state":"created"}', '{"id":"order_7","state":"paid"}'].map((body) =>
    sign("stripe", { body }),
  ) as [Webhook, Webhook];
  await post(source, created, paid, paid, created);
  const names = (await receivedOf(who, source)).map(({ delivery_id }: { delivery_id: string }) => delivery_id);
  assert.equal(names.length, 2);
  assert.equal(names[1], "order_7");
  assert.match(names[0], /^order_7#[0-9a-f]{8}$/);
  const events = await ingest.eventsOf(who.accountId, 2, "webhook.received");
  assert.deepEqual(
    events.map(({ data }) => (data as { payload: { state: string } }).payload.state),
    ["created", "paid"],
  );
});

test("two contents under one id that arrive at once are both kept", async () => {
  const who = testPerson();
  const source = await newSource(who, "stripe", { repetition_by: "id_and_content" });
  const bodies = Array.from({ length: 10 }, (_, n) => sign("stripe", { body: `{"id":"order_7","n":${n % 2}}` }));
  await Promise.all(bodies.map((webhook) => post(source, webhook)));
  assert.equal((await receivedOf(who, source)).length, 2);
});

test("github: a captured body has one effect under any id", async () => {
  const who = testPerson();
  const source = await newSource(who, "github");
  const captured = sign("github", { id: "guid-1" });
  const { "x-github-delivery": _, ...nameless } = captured.headers;
  await post(source, captured, { ...captured, headers: nameless });
  await post(source, withHeaders(captured, { "x-github-delivery": "guid-2" }));
  const items = await receivedOf(who, source);
  assert.deepEqual(
    items.map(({ delivery_id, event_type }: Record<string, string>) => [delivery_id, event_type]),
    [["guid-1", "order.created"]],
  );
});

test("topics that a header names share a body, and each is a webhook of its own", async () => {
  for (const [scheme, idHeader, typeHeader] of [
    ["github", "x-github-delivery", "x-github-event"],
    ["shopify", "x-shopify-event-id", "x-shopify-topic"],
  ] as const) {
    const who = testPerson();
    const source = await newSource(who, scheme);
    const one = sign(scheme, { body: '{"id":7}' });
    const posts = ["orders/create", "orders/updated", "orders/paid"].map((topic, nth) =>
      withHeaders(one, { [idHeader]: `guid-${nth}`, [typeHeader]: topic }),
    );
    await post(source, ...posts, ...posts);
    const types = (await receivedOf(who, source)).map(({ event_type }: { event_type: string }) => event_type);
    assert.deepEqual(types.sort(), ["orders/create", "orders/paid", "orders/updated"], scheme);
  }
});

test("woocommerce: topics that share a body and an id are webhooks of their own", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { preset: "woocommerce", secret: presets.woocommerce.vector.secret });
  const webhook = signedAs(presets.woocommerce, presets.woocommerce.vector.secret, '{"id":727}');
  const topics = ["order.created", "order.updated"];
  for (const topic of topics)
    await post(source, withHeaders(webhook, { "x-wc-webhook-topic": topic, "x-wc-webhook-delivery-id": "d-1" }));
  assert.equal((await receivedOf(who, source)).length, 2);
});

test("shopify: one body and topic under another event id is another event", async () => {
  const who = testPerson();
  const source = await newSource(who, "shopify");
  const webhook = sign("shopify", { body: '{"inventory_item_id":7,"available":1}' });
  for (const id of ["event-1", "event-1", "event-2"])
    await post(source, withHeaders(webhook, { "x-shopify-event-id": id }));
  assert.equal((await receivedOf(who, source)).length, 2);
});

for (const preset of ["dropbox", "microsoft-graph", "grafana"] as const) {
  test(`${preset}: equal notifications are events of their own`, async () => {
    const who = testPerson();
    const { secret, headers, body } = presets[preset].vector;
    const source = await ingest.newSource(who, { preset, secret });
    const webhook = { headers: { "content-type": "application/json", ...headers }, body };
    await post(source, webhook, webhook, webhook);
    const names = (await receivedOf(who, source)).map(({ delivery_id }: { delivery_id: string }) => delivery_id);
    assert.equal(new Set(names).size, 3, String(names));
    assert.equal((await ingest.eventsOf(who.accountId, 3, "webhook.received")).length, 3);
  });
}

test("without an id or a signed time the same body counts again after the time that the source says", async () => {
  const who = testPerson();
  const settings = { signed_content: "{body}", refuse_same_content_seconds: 0 };
  const bare = (body: string) =>
    signedAs({ settings: { signatureHeader: "x-signature", signaturePrefix: "sha256=" } }, secrets.hmac, body);
  const open = await newSource(who, "hmac", settings);
  const { refuse_same_content_seconds: _, ...unset } = settings;
  const closed = await newSource(who, "hmac", unset);
  const webhook = bare('{"amount":1}');
  await post(open, webhook, webhook, webhook);
  await post(closed, webhook, webhook, webhook);
  assert.deepEqual([(await receivedOf(who, open)).length, (await receivedOf(who, closed)).length], [3, 1]);
});

test("a sender without a signed time repeats a body as often as it wants when its source allows that", async () => {
  const who = testPerson();
  const source = await newSource(who, "github", { refuse_same_content_seconds: 0 });
  const captured = sign("github", { id: "guid-1" });
  await post(source, captured, withHeaders(captured, { "x-github-delivery": "guid-2" }));
  const [second, first] = await receivedOf(who, source);
  assert.deepEqual([second.delivery_id, second.same_content_as], ["guid-2", first.id]);
  assert.equal(first.same_content_as, null);
});

test("without a signed time the same body may come again after five minutes", async () => {
  const who = testPerson();
  const source = await newSource(who, "github");
  const captured = sign("github", { id: "guid-1" });
  const again = withHeaders(captured, { "x-github-delivery": "guid-2" });
  const age = (interval: string) =>
    ingest.pool.query(
      { name: "", text: "update received_keys set received_at = received_at - $2::interval where source_id = $1" },
      [source.id, interval],
    );
  await post(source, captured);
  await age("280 seconds");
  await post(source, again);
  assert.equal((await receivedOf(who, source)).length, 1);
  await age("20 seconds");
  await post(source, again, again);
  assert.equal((await receivedOf(who, source)).length, 2);
});

test("the signed type counts before a header that nobody signed", async () => {
  const who = testPerson();
  const source = await newSource(who, "hmac");
  const intercepted = sign("hmac", { id: "d-1", type: "order.created" });
  await post(source, withHeaders(intercepted, { "x-event-type": "order.deleted" }));
  const [item] = await receivedOf(who, source);
  assert.deepEqual([item.event_type, item.event_type_signed], ["order.created", true]);
});

test("an id that we made is not shown as signed", async () => {
  for (const scheme of ["github", "hmac", "stripe"] as const) {
    const who = testPerson();
    const source = await newSource(who, scheme);
    const { headers, body } = sign(scheme, { body: '{"amount":1}' });
    const { "x-github-delivery": _, "x-delivery-id": __, ...nameless } = headers;
    await post(source, { headers: nameless, body });
    const [item] = await receivedOf(who, source);
    assert.match(item.delivery_id, /^[0-9a-f]{64}$/);
    assert.equal(item.delivery_id_signed, false, scheme);
  }
});

test("a source names the place of its sender's delivery id", async () => {
  for (const [place, expected, signed] of [
    [{ header: "X-Request-Nr" }, "nr-1", false],
    [{ pointer: "/meta/delivery~1id" }, "7", true],
    [{ pointer: "/large" }, "9007199254740993", true],
  ] as const) {
    const who = testPerson();
    const source = await newSource(who, "stripe", { delivery_id_from: place });
    const webhook = sign("stripe", { body: '{"id":"order_7","meta":{"delivery/id":7},"large":9007199254740993}' });
    await post(source, withHeaders(webhook, { "x-request-nr": "nr-1" }));
    const [item] = await receivedOf(who, source);
    assert.deepEqual([item.delivery_id, item.delivery_id_signed], [expected, signed]);
  }
  const who = testPerson();
  const source = await newSource(who, "stripe", { delivery_id_from: "digest" });
  await post(
    source,
    sign("stripe", { body: '{"id":"order_7"}' }),
    sign("stripe", { body: '{"id":"order_7"}', ageSeconds: 1 }),
  );
  const names = (await receivedOf(who, source)).map(({ delivery_id }: { delivery_id: string }) => delivery_id);
  assert.ok(names.length === 2 && names.every((name: string) => /^[0-9a-f]{64}$/.test(name)), String(names));
});

test("repetitions are counted on the received webhook, at both edges", async () => {
  const who = testPerson();
  const source = await newSource(who, "github");
  const webhook = sign("github", { id: "guid-1" });
  await post(source, webhook);
  const [fresh] = await receivedOf(who, source);
  assert.deepEqual([fresh.repeated, fresh.last_repeated_at], [0, null]);
  await Promise.all(Array.from({ length: 3 }, () => post(source, webhook)));
  await post(source, withHeaders(webhook, { "x-github-delivery": "guid-2" }));
  const [item] = await receivedOf(who, source);
  assert.equal(item.repeated, 4);
  assert.ok(Date.parse(item.last_repeated_at) >= Date.parse(item.received_at));
  const query = `query($of: [_Any!]!) { _entities(representations: $of) { ... on ReceivedWebhook { repeated lastRepeatedAt } } }`;
  const { data } = await ingest.graphql(who, query, { of: [{ __typename: "ReceivedWebhook", id: item.id }] });
  assert.deepEqual(data._entities, [{ repeated: 4, lastRepeatedAt: item.last_repeated_at }]);
});

test("why of a repetition's request leads to the received webhook", async () => {
  const who = testPerson();
  const source = await newSource(who, "hmac");
  const webhook = sign("hmac", { id: "d-1" });
  await post(source, webhook);
  const { headers } = await ingest.post(source, webhook);
  const [{ id }] = await receivedOf(who, source);
  const { requestId } = await ingest.pool
    .query<{ requestId: string }>(
      { name: "", text: `select request_id as "requestId" from received_repetitions where source_id = $1` },
      [source.id],
    )
    .then(({ rows: [row] }) => row as { requestId: string });
  assert.equal(headers.get("x-request-id"), requestId);
  const finder = whyRepeated(serviceWith<IngestService>({ pool: ingest.pool }));
  const caller = (accountId: string) => ({ accountId }) as Caller;
  const found = await finder.find(caller(who.accountId), requestId);
  assert.deepEqual([found?.steps[0]?.reason, found?.next], ["repeated", [linkTo(id)]]);
  assert.equal(await finder.find(caller(testPerson().accountId), requestId), null);
});
