import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { type Scheme, secrets, sign, type Webhook } from "./signing.ts";

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
  for (const webhook of webhooks) assert.equal((await ingest.post(source, webhook)).status, 202);
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

test("an id with other content is a delivery of its own, and its repetitions add none", async () => {
  const who = testPerson();
  const source = await newSource(who, "stripe");
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
  const source = await newSource(who, "stripe");
  const bodies = Array.from({ length: 10 }, (_, n) => sign("stripe", { body: `{"id":"order_7","n":${n % 2}}` }));
  await Promise.all(bodies.map((webhook) => post(source, webhook)));
  assert.equal((await receivedOf(who, source)).length, 2);
});

for (const [scheme, idHeader, typeHeader] of [
  ["github", "x-github-delivery", "x-github-event"],
  ["shopify", "x-shopify-webhook-id", "x-shopify-topic"],
] as const) {
  test(`${scheme}: a captured body has one effect under any id or type`, async () => {
    const who = testPerson();
    const source = await newSource(who, scheme);
    const captured = sign(scheme, { id: "guid-1" });
    const { [idHeader]: _, ...nameless } = captured.headers;
    await post(source, captured, { ...captured, headers: nameless });
    for (const headers of [
      { [idHeader]: "guid-2" },
      { [typeHeader]: "order.deleted" },
      { [idHeader]: "guid-3", [typeHeader]: "order.deleted" },
    ]) {
      await post(source, withHeaders(captured, headers));
    }
    const items = await receivedOf(who, source);
    assert.deepEqual(
      items.map(({ delivery_id, event_type }: Record<string, string>) => [delivery_id, event_type]),
      [["guid-1", "order.created"]],
    );
  });
}

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
  ] as const) {
    const who = testPerson();
    const source = await newSource(who, "stripe", { delivery_id_from: place });
    const webhook = sign("stripe", { body: '{"id":"order_7","meta":{"delivery/id":7}}' });
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
