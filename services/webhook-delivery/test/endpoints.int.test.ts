import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { createSubgraph } from "@signalbox/http";
import type { Pool } from "@signalbox/storage";
import { schemaDifference } from "@signalbox/storage/authoring";
import { createSubgraphClient, serveListener, serviceWith, testPerson } from "@signalbox/testing";
import type { DeliveryService } from "../src/context/delivery-service.ts";
import { serviceEdges } from "../src/edges.ts";
import { endpointsPath, prismaDirectory } from "./harness.ts";
import { delivery, shareOneService } from "./one-service.ts";

shareOneService({ "webhook-delivery.endpoints.max": 5 });

const given = { url: "https://receiver.example/hooks", event_types: ["image.*"] };
const pathOf = ({ id }: { id: string }) => `${endpointsPath}/${id}`;
const people = { ...given, event_types: ["sign_in.*"] };
const developer = (accountId: string) =>
  testPerson({ accountId, scopes: ["webhooks:read", "webhooks:write"], kind: "api-key" });
const changedIn = (event: { data: unknown }) => (event.data as { changed?: string[] }).changed;

test("the sign-ins of people are chosen with account:security alone", async () => {
  const owner = testPerson();
  const refused = await delivery.send(developer(owner.accountId), "POST", endpointsPath, { body: people });
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [403, "scope_required"]);
  assert.equal((await delivery.send(owner, "POST", endpointsPath, { body: people })).status, 201);
});

test("an endpoint of people's sign-ins is redirected with account:security alone", async () => {
  const owner = testPerson();
  const { body } = await delivery.send(owner, "POST", endpointsPath, { body: people });
  const elsewhere = { body: { url: "https://elsewhere.example/" } };
  assert.equal((await delivery.send(developer(owner.accountId), "PATCH", pathOf(body), elsewhere)).status, 403);
});

test("an endpoint gets its first events of people with account:security alone", async () => {
  const owner = testPerson();
  const { body } = await delivery.send(owner, "POST", endpointsPath, { body: given });
  const more = { body: { event_types: people.event_types } };
  assert.equal((await delivery.send(developer(owner.accountId), "PATCH", pathOf(body), more)).status, 403);
});

test("a subscription to all events counts none of people's sign-ins", async () => {
  const who = testPerson();
  const { body } = await delivery.send(who, "POST", endpointsPath, { body: { ...given, event_types: ["s*", "si*"] } });
  assert.deepEqual(
    body.matches.map(({ types }: { types: string[] }) => types.filter((type) => type.startsWith("sign_in."))),
    [[], []],
  );
});

test("a new endpoint shows its secret once, and every other field always", async () => {
  const who = testPerson();
  const { status, headers, body } = await delivery.send(who, "POST", endpointsPath, { body: given });
  assert.equal(status, 201);
  assert.equal(headers.get("location"), pathOf(body));
  assert.match(body.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const { secret, ...inFull } = body;
  const { effective_settings, matches, warnings, doc_url, waiting, held, ...rest } = inFull;
  const { drains_at_per_second, drained_at, ...shown } = rest;
  assert.deepEqual([waiting, held, drains_at_per_second, drained_at], [0, 0, null, null]);
  const [{ id: secretId, ...live }] = shown.secrets;
  assert.match(secretId, /^whk_/);
  assert.deepEqual(live, { created_at: body.created_at, ends_at: null });
  assert.deepEqual(
    { ...shown, id: "", secrets: [], created_at: "", updated_at: "" },
    {
      id: "",
      type: "push",
      ...given,
      description: null,
      scope: "account",
      status: "enabled",
      disabled_reason: null,
      settings: {
        retry_schedule_seconds: null,
        timeout_seconds: null,
        max_in_flight: null,
        rate: null,
        ordered: false,
        order_hold_seconds: null,
        filter: null,
        headers: [],
        metadata: {},
        signatures: [],
        client_certificate: null,
        api_version: null,
        format: "envelope",
      },
      secrets: [],
      ends_at: null,
      created_at: "",
      updated_at: "",
    },
  );
  assert.deepEqual((await delivery.send(who, "GET", pathOf(body))).body, inFull);
  const settings = { ...shown.settings, body_format: "envelope" };
  const [event] = await delivery.eventsOf(who.accountId, 1);
  assert.deepEqual([event?.name, event?.data], ["webhook_endpoint.created", { ...shown, settings, changed: [] }]);
  const stored = "select e::text from endpoints e union all select s::text from endpoint_secrets s";
  const { rows } = await delivery.pool.query({ name: "", text: stored });
  assert.ok(!JSON.stringify([rows, delivery.context.logged]).includes(secret), "nor in a row or a log line");
});

test("a patch merges, a patch without a change writes nothing, an outdated one is 409", async () => {
  const who = testPerson();
  const endpoint = await delivery.newEndpoint(who, { ...given, settings: { timeout_seconds: 5 } });
  const etag = (await delivery.send(who, "GET", pathOf(endpoint))).headers.get("etag") ?? "";
  const body = { description: "Orders", settings: { max_in_flight: 2 } };
  const first = await delivery.send(who, "PATCH", pathOf(endpoint), { body, headers: { "if-match": etag } });
  assert.equal(first.status, 200);
  const { timeout_seconds, max_in_flight } = first.body.settings;
  assert.deepEqual([first.body.description, timeout_seconds, max_in_flight], ["Orders", 5, 2]);
  const again = await delivery.send(who, "PATCH", pathOf(endpoint), { body });
  assert.deepEqual([again.body, again.headers.get("etag")], [first.body, first.headers.get("etag")]);
  const outdated = await delivery.send(who, "PATCH", pathOf(endpoint), { body: {}, headers: { "if-match": etag } });
  assert.equal(outdated.status, 409);
  await delivery.send(who, "PATCH", pathOf(endpoint), { body: { settings: { timeout_seconds: null } } });
  const events = await delivery.eventsOf(who.accountId, 3);
  assert.deepEqual(events.map(changedIn), [[], ["description", "settings"], ["settings"]]);
});

// Every notation of an address is a test of the library that judges it.
test("a url that could never be delivered to is 422 on url", async () => {
  const who = testPerson();
  for (const url of [
    "http://receiver.example/",
    "receiver.example",
    "https://user:pass@receiver.example/",
    "https://10.5/",
  ]) {
    const { status, body } = await delivery.send(who, "POST", endpointsPath, { body: { ...given, url } });
    assert.deepEqual([status, body.error?.details?.[0]?.field], [422, "url"], url);
  }
  const endpoint = await delivery.newEndpoint(who, given);
  const changed = await delivery.send(who, "PATCH", pathOf(endpoint), { body: { url: "https://127.1.1.1/" } });
  assert.equal(changed.status, 422);
});

test("a url is kept in the notation in which it is used, and one with a fragment is 422", async () => {
  const who = testPerson();
  const written = " HTTPS://Receiver.Example:443/a b/../c?q=\n1 ";
  const endpoint = await delivery.newEndpoint(who, { ...given, url: written });
  const { body } = await delivery.send(who, "GET", pathOf(endpoint));
  assert.equal(body.url, "https://receiver.example/c?q=1");
  const same = await delivery.send(who, "PATCH", pathOf(endpoint), { body: { url: written } });
  assert.equal(same.body.updated_at, body.updated_at);
  for (const url of ["https://receiver.example/#part", "https://receiver.example/#"]) {
    const refused = await delivery.send(who, "POST", endpointsPath, { body: { ...given, url } });
    assert.deepEqual([refused.status, refused.body.error.details[0].field], [422, "url"]);
  }
});

test("a filter that no event can match is refused with its place", async () => {
  const who = testPerson();
  for (const [filter, place] of [
    [{ "items[0].sku": { eq: "a" } }, "items[0].sku"],
    [{ "a\\.b": { gt: 2, lt: 1 } }, "a\\.b"],
    [{ any: [{ total: { eq: 1, gt: 1 } }] }, "any[0].total"],
    [{ "a\\.b": { like: 1 } }, "a\\.b.like"],
  ] as const) {
    const { status, body } = await delivery.send(who, "POST", "/api/v1/webhooks/endpoints", {
      body: { ...given, settings: { filter } },
    });
    const [{ field, code }] = body.error.details;
    assert.deepEqual([status, field, code], [422, `settings.filter.${place}`, "invalid"]);
  }
});

test("an unknown, read-only or invalid member is named", async () => {
  const endpoint = await delivery.newEndpoint(testPerson(), given);
  const who = testPerson();
  const own = await delivery.newEndpoint(who, given);
  const wrong = { secret: "x", colour: "red", event_types: ["signalbox.*"], settings: { timeout_seconds: 0 } };
  const { status, body } = await delivery.send(who, "PATCH", pathOf(own), { body: wrong });
  assert.equal(status, 422);
  assert.deepEqual(body.error.details.map(({ field }: { field: string }) => field).sort(), [
    "colour",
    "event_types[0]",
    "secret",
    "settings.timeout_seconds",
  ]);
  for (const [method, path] of [
    ["GET", pathOf(endpoint)],
    ["DELETE", pathOf(endpoint)],
    ["POST", `${pathOf(endpoint)}/pause`],
    ["POST", `${pathOf(endpoint)}/secret/rotate`],
    ["POST", `${pathOf(endpoint)}/secret/reveal`],
  ] as const) {
    const body = path.endsWith("rotate") ? { body: {} } : {};
    assert.equal((await delivery.send(who, method, path, body)).status, 404, `another account's: ${method} ${path}`);
  }
});

test("fifty concurrent creations fill an account to its limit, and the rest are refused with the limit", async () => {
  const who = testPerson();
  const create = () => delivery.send(who, "POST", endpointsPath, { body: given });
  const answers = await Promise.all(Array.from({ length: 50 }, create));
  assert.equal(answers.filter(({ status }) => status === 201).length, 5);
  const refused = answers.filter(({ status }) => status === 409);
  assert.equal(refused.length, 45);
  for (const { body } of refused) {
    const message = "The account has 5 endpoints; delete one that is not needed.";
    assert.deepEqual(body.error.details, [{ field: "endpoints", code: "too_many", message }]);
  }
  assert.equal((await delivery.send(who, "GET", endpointsPath)).body.items.length, 5);
  assert.equal((await delivery.eventsOf(who.accountId, 5)).length, 5);
});

test("revealing and rotating a secret needs a step-up", async () => {
  const who = testPerson();
  const endpoint = await delivery.newEndpoint(who, given);
  const reveal = `${pathOf(endpoint)}/secret/reveal`;
  assert.deepEqual((await delivery.send(who, "POST", reveal)).body, { secret: endpoint.secret });
  const rotated = await delivery.send(who, "POST", `${pathOf(endpoint)}/secret/rotate`, { body: {} });
  assert.notEqual(rotated.body.secret, endpoint.secret);
  assert.deepEqual((await delivery.send(who, "POST", reveal)).body, { secret: rotated.body.secret });
  const stale = testPerson({ accountId: who.accountId, authTimeMs: Date.now() - 16 * 60_000 });
  for (const action of ["reveal", "rotate"]) {
    const refused = await delivery.send(stale, "POST", `${pathOf(endpoint)}/secret/${action}`, { body: {} });
    assert.deepEqual([refused.status, refused.body.error.details[0].code], [403, "step_up_required"]);
  }
});

test("a new URL needs a step-up, or a key that manages the account; the unchanged one needs neither", async () => {
  const { accountId, ...who } = testPerson();
  const endpoint = await delivery.newEndpoint({ accountId, ...who }, given);
  const longAgo = Date.now() - 16 * 60_000;
  const patch = (from: ReturnType<typeof testPerson>, body: object) =>
    delivery.send(from, "PATCH", pathOf(endpoint), { body });
  const weakKey = testPerson({ accountId, kind: "api-key", scopes: ["webhooks:read", "webhooks:write"] });
  const client = testPerson({ accountId, kind: "client" });
  for (const from of [testPerson({ accountId, authTimeMs: longAgo }), weakKey, client]) {
    const refused = await patch(from, { url: "https://elsewhere.example/hook", description: "x" });
    assert.deepEqual([refused.status, refused.body.error.details[0].code], [403, "step_up_required"]);
    assert.equal((await patch(from, { url: given.url })).body.url, given.url);
    assert.equal((await patch(from, { url: given.url, description: "of all" })).status, 200);
  }
  const key = testPerson({ accountId, kind: "api-key" });
  for (const [from, url] of [
    [testPerson({ accountId }), "https://first.example/hook"],
    [key, "https://second.example/hook"],
  ] as const) {
    assert.equal((await patch(from, { url })).body.url, url);
  }
});

test("pause and resume change the status, publish an event, and refuse a disabled endpoint", async () => {
  const who = testPerson();
  const endpoint = await delivery.newEndpoint(who, given);
  const act = async (action: string) => (await delivery.send(who, "POST", `${pathOf(endpoint)}/${action}`)).body.status;
  assert.deepEqual([await act("pause"), await act("pause"), await act("resume")], ["paused", "paused", "enabled"]);
  assert.deepEqual((await delivery.eventsOf(who.accountId, 3)).map(changedIn), [[], ["status"], ["status"]]);
});

test("endpoints are listed newest first, page by page, and the graph shows them to their account", async () => {
  const who = testPerson();
  const ids = [];
  for (let count = 0; count < 3; count++) ids.unshift((await delivery.newEndpoint(who, given)).id);
  const first = (await delivery.send(who, "GET", `${endpointsPath}?limit=2`)).body;
  const rest = (await delivery.send(who, "GET", `${endpointsPath}?limit=2&cursor=${first.next_cursor}`)).body;
  assert.deepEqual(
    [...first.items, ...rest.items].map(({ id }: { id: string }) => id),
    ids,
  );
  const query = `query($of: [_Any!]!) { _entities(representations: $of) { ... on Account {
    webhookEndpoints(first: 2) { edges { node { id url eventTypes status } } pageInfo { hasNextPage } } } } }`;
  const { data } = await delivery.graphql(who, query, { of: [{ __typename: "Account", id: who.accountId }] });
  const { edges, pageInfo } = data._entities[0].webhookEndpoints;
  assert.deepEqual(edges[0].node, { id: ids[0], url: given.url, eventTypes: given.event_types, status: "enabled" });
  assert.deepEqual([edges.length, pageInfo.hasNextPage], [2, true]);
  const foreign = await delivery.graphql(who, query, { of: [{ __typename: "Account", id: testPerson().accountId }] });
  assert.equal(foreign.data._entities[0].webhookEndpoints, null);
  assert.equal(foreign.errors[0].extensions.code, "FORBIDDEN");
});

test("a hundred endpoints of a query are one statement, and those of others are null", async () => {
  const who = testPerson();
  const [own, foreign] = [await delivery.newEndpoint(who, given), await delivery.newEndpoint(testPerson(), given)];
  let statements = 0;
  const query: Pool["query"] = (...sent) => {
    statements++;
    return delivery.pool.query(...sent);
  };
  const { clock, log } = delivery.context;
  const pageLimits = { maxPageSize: () => 100, pageSize: () => 20 };
  const typeDefs = await readFile(new URL("../subgraph.graphql", import.meta.url), "utf8");
  const pool = { ...delivery.pool, query };
  const service = serviceWith<DeliveryService>({
    pool,
    pageLimits,
    clock,
    statistics: {},
    replayEngine: {},
    configuration: {},
  });
  const { resolvers } = serviceEdges(service);
  const served = await serveListener(createSubgraph({ typeDefs, resolvers, clock, log }));
  const ids = Array.from({ length: 100 }, (_, at) => [own.id, foreign.id, `whe_${at}`][at % 3]);
  const of = ids.map((id) => ({ __typename: "WebhookEndpoint", id }));
  const text = "query($of: [_Any!]!) { _entities(representations: $of) { ... on WebhookEndpoint { url } } }";
  const { data } = await createSubgraphClient(served.url)(who, text, { of });
  await served.close();
  assert.deepEqual(
    data._entities,
    ids.map((id) => (id === own.id ? { url: given.url } : null)),
  );
  assert.equal(statements, 1);
});

test("the migrations lead to the schema", async () => {
  assert.equal(await schemaDifference(prismaDirectory, delivery.context.configuration.get("database.url")), "");
});
