import assert from "node:assert/strict";
import { access } from "node:fs/promises";
import { test } from "node:test";
import { draft, eventOf } from "@signalbox/contracts";
import { eventually, testPerson } from "@signalbox/testing";
import { endpointsPath } from "./harness.ts";
import { delivery, receiver, shareOneService } from "./one-service.ts";

shareOneService();

type Person = ReturnType<typeof testPerson>;
const read = async (who: Person, { id }: { id: string }) =>
  (await delivery.send(who, "GET", `${endpointsPath}/${id}`)).body;
const newEndpoint = (who: Person, event_types: string[], more: object = {}) =>
  delivery.newEndpoint(who, { url: receiver.url, event_types, ...more }) as Promise<Awaited<ReturnType<typeof read>>>;
const nothingNamed = (name: string) => `Nothing named ${name} has been sent or declared`;

test("every setting is shown as it holds, with the endpoint, the property or the default that it comes from", async () => {
  const who = testPerson();
  const settings = { timeout_seconds: 7, max_in_flight: 100, ordered: true };
  const [own, plain, pull] = [
    await newEndpoint(who, ["image.*"], { settings }),
    await newEndpoint(who, ["image.*"]),
    await delivery.newEndpoint(who, { type: "pull" }),
  ] as const;
  const effective = own.effective_settings;
  assert.deepEqual(Object.keys(effective).sort(), Object.keys(own.settings).sort());
  assert.deepEqual(effective.timeout_seconds, { value: 7, from: "endpoint" });
  assert.deepEqual(effective.ordered, { value: true, from: "endpoint" });
  assert.deepEqual(effective.max_in_flight, { value: 64, from: "property" }, "the service allows no more");
  assert.deepEqual(effective.order_hold_seconds, { value: 3_600, from: "default" });
  assert.deepEqual(plain.effective_settings.timeout_seconds, { value: 15, from: "property" });
  assert.deepEqual(plain.effective_settings.max_in_flight, { value: 64, from: "property" });
  assert.deepEqual(plain.effective_settings.retry_schedule_seconds, {
    value: [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400],
    from: "default",
  });
  assert.deepEqual(plain.effective_settings.headers, { value: [], from: "default" });
  const pulled = (await read(who, pull)).effective_settings;
  assert.deepEqual(pulled.timeout_seconds, { value: null, from: "default" });
  assert.deepEqual(pulled.max_in_flight, { value: 1_000, from: "default" });
});

test("a name that nothing has is warned about, until it is sent or declared", async () => {
  const who = testPerson();
  const misspelt = await newEndpoint(who, ["imagee.created", "image.created", "bill.*"]);
  assert.deepEqual(misspelt.warnings, [nothingNamed("imagee.created"), nothingNamed("bill.*")]);
  assert.deepEqual(misspelt.matches, [
    { event_type: "imagee.created", count: 0, types: [] },
    { event_type: "image.created", count: 1, types: ["image.created"] },
    { event_type: "bill.*", count: 0, types: [] },
  ]);
  const declared = { name: "bill.paid" };
  assert.equal((await delivery.send(who, "POST", "/api/v1/webhooks/event-types", { body: declared })).status, 201);
  const published = { type: "bill.sent", data: {} };
  assert.equal((await delivery.send(who, "POST", "/api/v1/webhooks/events", { body: published })).status, 202);
  const known = await read(who, misspelt);
  assert.deepEqual(known.warnings, [nothingNamed("imagee.created")]);
  assert.deepEqual(known.matches[2], { event_type: "bill.*", count: 2, types: ["bill.paid", "bill.sent"] });
  const body = { event_types: ["imagee.created"] };
  const patched = await delivery.send(who, "PATCH", `${endpointsPath}/${misspelt.id}`, { body });
  assert.deepEqual(patched.body.warnings, [nothingNamed("imagee.created")]);
  const listed = (await delivery.send(who, "GET", endpointsPath)).body.items;
  assert.deepEqual(listed[0].warnings, patched.body.warnings);
  const other = await newEndpoint(testPerson(), ["bill.sent"]);
  assert.deepEqual(other.warnings, [nothingNamed("bill.sent")], "names of other accounts are not known");
});

test("the partner's name of a received webhook is known once it was received", async () => {
  const who = testPerson();
  const endpoint = await newEndpoint(who, ["received.hmac.order.*"]);
  assert.deepEqual(endpoint.warnings, [nothingNamed("received.hmac.order.*")]);
  const { example } = eventOf("webhook.received");
  await delivery.publish(
    draft("webhook.received", {
      subject: example.source_id,
      accountId: who.accountId,
      data: { ...example, scheme: "hmac", event_type: "order.created" },
    }),
  );
  const known = await eventually(async () => {
    const found = await read(who, endpoint);
    return found.warnings.length === 0 ? found : null;
  });
  assert.deepEqual(known.matches[0].types, ["received.hmac.order.created"]);
});

test("an account with more names than are remembered gets no warning, since its names are not all known", async () => {
  const who = testPerson();
  const text = `insert into sent_event_types (account_id, name, sent_at)
    select $1, 'noise.n' || n, now() from generate_series(1, 1000) as n`;
  await delivery.pool.query({ name: "", text }, [who.accountId]);
  assert.equal(
    (await delivery.send(who, "POST", "/api/v1/webhooks/events", { body: { type: "late.one", data: {} } })).status,
    202,
  );
  const endpoint = await newEndpoint(who, ["late.one", "noise.*"]);
  assert.deepEqual(endpoint.warnings, []);
  assert.deepEqual(
    endpoint.matches.map(({ count, types }: { count: number; types: string[] }) => [count, types.length]),
    [
      [0, 0],
      [1_000, 10],
    ],
  );
});

test("the names of a purged account are removed", async () => {
  const who = testPerson();
  const { accountId } = who;
  const text = "select name from sent_event_types where account_id = $1";
  const stored = async () => (await delivery.pool.query<{ name: string }>({ name: "", text }, [accountId])).rows;
  await delivery.send(who, "POST", "/api/v1/webhooks/events", { body: { type: "order.secret", data: {} } });
  assert.deepEqual(await stored(), [{ name: "order.secret" }]);
  const data = { ...eventOf("account.deleted").example, id: accountId };
  await delivery.publish(draft("account.deleted", { subject: accountId, accountId, data }));
  await eventually(async () => (await stored()).length === 0);
});

test("the graph shows the same as REST, and the linked page exists", async () => {
  const who = testPerson();
  const endpoint = await newEndpoint(who, ["imagee.created", "image.*"]);
  const shown = await read(who, endpoint);
  const query = `query($of: [_Any!]!) { _entities(representations: $of) {
    ... on WebhookEndpoint { effectiveSettings matches { eventType count types } warnings docUrl } } }`;
  const { data } = await delivery.graphql(who, query, { of: [{ __typename: "WebhookEndpoint", id: endpoint.id }] });
  assert.deepEqual(data._entities[0], {
    effectiveSettings: shown.effective_settings,
    matches: shown.matches.map(({ event_type: eventType, ...rest }: { event_type: string }) => ({
      ...rest,
      eventType,
    })),
    warnings: shown.warnings,
    docUrl: shown.doc_url,
  });
  const page = new URL(shown.doc_url).pathname;
  await access(new URL(`../../..${page}.md`, import.meta.url));
});

test("a client that has the endpoint reads it again when another delivery is held", async () => {
  const who = testPerson();
  const endpoint = await newEndpoint(who, ["shop.opened"]);
  const path = `${endpointsPath}/${endpoint.id}`;
  const { headers } = await delivery.send(who, "POST", `${path}/pause`);
  const again = () => delivery.send(who, "GET", path, { headers: { "if-none-match": headers.get("etag") ?? "" } });
  assert.equal((await again()).status, 304);
  const published = { type: "shop.opened", data: {} };
  assert.equal((await delivery.send(who, "POST", "/api/v1/webhooks/events", { body: published })).status, 202);
  await eventually(async () => {
    const { status, body } = await again();
    assert.deepEqual([status, body?.held], [200, 1]);
  });
});
