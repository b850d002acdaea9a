import assert from "node:assert/strict";
import { access, readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { type Outbox, ReplayEngine } from "@signalbox/events";
import { createSubgraph } from "@signalbox/http";
import type { Statistics } from "@signalbox/service";
import type { Pool } from "@signalbox/storage";
import { schemaDifference } from "@signalbox/storage/authoring";
import { createSubgraphClient, eventually, serveListener, serviceWith, testPerson } from "@signalbox/testing";
import type { IngestService } from "../src/context/ingest-service.ts";
import { serviceEdges } from "../src/edges.ts";
import { replayKind, retryKind } from "../src/replays/replay.ts";
import { configurationWith } from "./configuration-with.ts";
import { type Harness, prismaDirectory, sourcesPath, startIngest } from "./harness.ts";
import { schemes, secrets, sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest({ "webhook-ingest.sources.max": 5 });
});
after(() => ingest.close());

const hmac = { name: "Shop", scheme: "hmac", secret: secrets.hmac };
const changedIn = (event: { data: unknown } | undefined) =>
  (event?.data as { changed?: string[] } | undefined)?.changed;
const pathOf = ({ id }: { id: string }) => `${sourcesPath}/${id}`;

test("a new source is shown with every field, found again, and published", async () => {
  const who = testPerson();
  const created = await ingest.send(who, "POST", sourcesPath, { body: hmac });
  const { status, headers } = created;
  assert.equal(status, 201);
  const { ingest_url, effective_settings, doc_url, warnings, ...body } = created.body;
  assert.equal(ingest_url, `http://127.0.0.1:8080${body.ingest_path}`);
  assert.deepEqual(warnings, []);
  assert.match(body.id, /^src_/);
  assert.equal(headers.get("location"), pathOf(body));
  assert.deepEqual(
    { ...body, id: "", ingest_path: "", addresses: [], secrets: [], created_at: "", updated_at: "" },
    {
      id: "",
      name: "Shop",
      scheme: "hmac",
      preset: null,
      preset_version: null,
      event_types: null,
      status: "active",
      forward: true,
      ingest_path: "",
      former_ingest_paths: [],
      addresses: [],
      sender_key: null,
      settings: {},
      overlaps_end_at: [],
      secrets: [],
      created_at: "",
      updated_at: "",
    },
  );
  assert.equal(body.ingest_path, `/ingest/${body.id}`);
  const { created_at, ingest_path } = body;
  const [addressId, secretId] = [...body.addresses, ...body.secrets].map(({ id }: { id: string }) => id);
  assert.deepEqual(body.addresses, [{ id: addressId, created_at, ends_at: null, ingest_path }]);
  assert.deepEqual(body.secrets, [{ id: secretId, created_at, ends_at: null }]);
  const read = await ingest.send(who, "GET", pathOf(body));
  assert.deepEqual(read.body, created.body);
  assert.equal(read.headers.get("etag"), headers.get("etag"));
  const [event] = await ingest.eventsOf(who.accountId, 1);
  assert.deepEqual([event?.name, event?.subject], ["webhook_source.created", body.id]);
  assert.deepEqual(event?.data, { ...body, changed: [] });
});

test("sources are found by their state and by a part of the name, taken literally, at both edges", async () => {
  const who = testPerson();
  const [shop, hundred] = await Promise.all(
    ["Shop", "100% off"].map(
      async (name) => (await ingest.send(who, "POST", sourcesPath, { body: { ...hmac, name } })).body,
    ),
  );
  await ingest.send(who, "PATCH", pathOf(shop), { body: { status: "paused" } });
  const found = async (query: string) => {
    const { status, body } = await ingest.send(who, "GET", `${sourcesPath}?${query}`);
    return status === 200 ? body.items.map(({ name }: { name: string }) => name) : status;
  };
  assert.deepEqual(await found("status=paused"), ["Shop"]);
  assert.deepEqual(await found("status=gone"), 400);
  assert.deepEqual(await found("text=SHO"), ["Shop"]);
  assert.deepEqual(await found(`text=${hundred.id.slice(4)}`), ["100% off"]);
  assert.deepEqual(await found("text=0%25%20o"), ["100% off"]);
  assert.deepEqual(await found("text=p%25&status=paused"), []);
  const { data } = await ingest.graphql(
    who,
    `query($of: [_Any!]!) { _entities(representations: $of) { ... on Account {
      webhookSources(status: "active", text: "off") { edges { node { name } } } } } }`,
    { of: [{ __typename: "Account", id: who.accountId }] },
  );
  assert.deepEqual(data._entities[0].webhookSources.edges, [{ node: { name: "100% off" } }]);
});

test("every setting is shown as it holds, with the source, the property or the default that it comes from", async () => {
  const who = testPerson();
  const settings = { time_unit: "ms", tolerance_seconds: 60, answer: { status: 200, content_type: "text/plain" } };
  const own = (await ingest.send(who, "POST", sourcesPath, { body: { ...hmac, settings } })).body;
  assert.deepEqual(own.effective_settings.time_unit, { value: "ms", from: "source" });
  assert.deepEqual(own.effective_settings.tolerance_seconds, { value: 60, from: "source" });
  assert.deepEqual(own.effective_settings.answer, { value: settings.answer, from: "source" });
  assert.deepEqual(own.effective_settings.signed_content, { value: "{timestamp}.{body}", from: "default" });
  assert.deepEqual(own.effective_settings.max_body_bytes, { value: 1_048_576, from: "property" });
  assert.deepEqual(own.effective_settings.public_url, { value: own.ingest_url, from: "property" });
  assert.equal(own.effective_settings.token_header, undefined, "a setting of another scheme has no effect");
  const slack = (await ingest.send(who, "POST", sourcesPath, { body: { ...hmac, scheme: "slack" } })).body;
  assert.deepEqual(slack.effective_settings.tolerance_seconds, { value: 300, from: "property" });
  assert.deepEqual(slack.effective_settings.handshake, { value: "slack", from: "default" });
  assert.equal(slack.effective_settings.signature_header, undefined);
  const token = (await ingest.send(who, "POST", sourcesPath, { body: { ...hmac, scheme: "token" } })).body;
  assert.deepEqual(token.effective_settings.token_format, { value: "bearer", from: "default" });
  const query = `query($of: [_Any!]!) { _entities(representations: $of) {
    ... on WebhookSource { ingestUrl docUrl effectiveSettings } } }`;
  const { data } = await ingest.graphql(who, query, { of: [{ __typename: "WebhookSource", id: own.id }] });
  const [inGraph] = data._entities;
  assert.deepEqual([inGraph.ingestUrl, inGraph.docUrl], [own.ingest_url, own.doc_url]);
  assert.deepEqual(inGraph.effectiveSettings.answer.value, { status: 200, contentType: "text/plain" });
  assert.deepEqual(inGraph.effectiveSettings.toleranceSeconds, own.effective_settings.tolerance_seconds);
  await access(new URL(`../../..${new URL(own.doc_url).pathname}.md`, import.meta.url));
});

test("the secret is in no answer, no event, no row and no log line", async () => {
  const who = testPerson();
  const secret = "a-secret-that-is-easy-to-find-0123456789";
  const source = await ingest.newSource(who, { scheme: "hmac", secret });
  await ingest.send(who, "PATCH", pathOf(source), { body: { secret: `${secret}-2` } });
  const shown = await Promise.all([ingest.send(who, "GET", pathOf(source)), ingest.send(who, "GET", sourcesPath)]);
  const [, updated] = await ingest.eventsOf(who.accountId, 2);
  assert.deepEqual(changedIn(updated), ["secret"]);
  const { rows } = await ingest.pool.query({ name: "", text: "select s::text from sources s" });
  const written = JSON.stringify([shown.map(({ text }) => text), updated, rows, ingest.context.logged]);
  assert.ok(!written.includes(secret));
});

test("a new secret needs a step-up, or a key that manages the account; other changes need neither", async () => {
  const who = testPerson();
  const { accountId } = who;
  const source = await ingest.newSource(who, hmac);
  const patch = (from: ReturnType<typeof testPerson>, body: object) =>
    ingest.send(from, "PATCH", pathOf(source), { body });
  const stale = testPerson({ accountId, authTimeMs: Date.now() - 16 * 60_000 });
  const weakKey = testPerson({ accountId, kind: "api-key", scopes: ["webhooks:read", "webhooks:write"] });
  const client = testPerson({ accountId, kind: "client" });
  for (const from of [stale, weakKey, client]) {
    // The unchanged secret too: an answer that it is the same would confirm a guess.
    for (const secret of [`${hmac.secret}-2`, hmac.secret]) {
      const refused = await patch(from, { secret, name: "Store" });
      assert.deepEqual([refused.status, refused.body.error.details[0].code], [403, "step_up_required"]);
      assert.equal((await ingest.send(from, "GET", pathOf(source))).body.name, hmac.name);
    }
    assert.equal((await patch(from, { forward: false })).status, 200);
    assert.equal((await patch(from, { forward: true })).status, 200);
  }
  for (const from of [who, testPerson({ accountId, kind: "api-key" })]) {
    assert.equal((await patch(from, { secret: `${hmac.secret}-3` })).status, 200);
  }
});

test("a patch changes the members it names, and one without a change writes nothing", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { ...hmac, settings: { time_unit: "ms", signature_prefix: "v0=" } });
  const first = await ingest.send(who, "PATCH", pathOf(source), {
    headers: { "content-type": "application/merge-patch+json" },
    body: { name: "Store", event_types: ["a", "b"], settings: { time_unit: null, timestamp_header: "X-When" } },
  });
  assert.equal(first.status, 200);
  assert.deepEqual([first.body.name, first.body.event_types, first.body.forward], ["Store", ["a", "b"], true]);
  assert.deepEqual(first.body.settings, { signature_prefix: "v0=", timestamp_header: "x-when" });
  for (const body of [{}, { name: "Store", settings: { timestamp_header: "X-When", signature_prefix: "v0=" } }]) {
    const again = await ingest.send(who, "PATCH", pathOf(source), { body });
    assert.deepEqual(again.body, first.body);
    assert.equal(again.headers.get("etag"), first.headers.get("etag"));
  }
  await ingest.send(who, "PATCH", pathOf(source), { body: { event_types: null } });
  const events = await ingest.eventsOf(who.accountId, 3);
  assert.deepEqual(events.map(changedIn), [[], ["name", "event_types", "settings"], ["event_types"]]);
});

test("a write to an outdated state is 409, and nothing changes", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const etag = (await ingest.send(who, "GET", pathOf(source))).headers.get("etag") ?? "";
  const headers = { "if-match": etag };
  assert.equal((await ingest.send(who, "PATCH", pathOf(source), { headers, body: { name: "A" } })).status, 200);
  assert.equal((await ingest.send(who, "PATCH", pathOf(source), { headers, body: { name: "B" } })).status, 409);
  assert.equal((await ingest.send(who, "DELETE", pathOf(source), { headers })).status, 409);
  assert.equal((await ingest.send(who, "GET", pathOf(source))).body.name, "A");
});

test("unknown, read-only and invalid members are named, all of them at once", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const { status, body } = await ingest.send(who, "PATCH", pathOf(source), {
    body: { nickname: "x", id: "src_1", scheme: "github", name: "", event_types: [], settings: { speed: 1 } },
  });
  assert.equal(status, 422);
  const named = Object.fromEntries(body.error.details.map(({ field, code }: Record<string, string>) => [field, code]));
  assert.deepEqual(named, {
    nickname: "unknown_member",
    id: "read_only",
    scheme: "read_only",
    name: "invalid",
    event_types: "too_small",
    "settings.speed": "unknown_member",
  });
  for (const wrong of [
    { ...hmac, name: "a\0b" },
    { ...hmac, name: "\ud800" },
    { ...hmac, colour: "red" },
  ]) {
    assert.equal((await ingest.send(who, "POST", sourcesPath, { body: wrong })).status, 422);
  }
  assert.equal((await ingest.send(who, "POST", sourcesPath, { body: { name: "Shop" } })).status, 400);
});

test("a setting of another scheme is refused", async () => {
  for (const scheme of schemes.filter((name) => name !== "hmac")) {
    const settings = { time_unit: "ms", token_format: "plain" };
    const body = { name: "Shop", scheme, secret: secrets[scheme], settings };
    const { status, body: refusal } = await ingest.send(testPerson(), "POST", sourcesPath, { body });
    const fields = refusal.error.details.map(({ field }: { field: string }) => field);
    assert.deepEqual([status, fields.sort()], [422, ["settings.time_unit", "settings.token_format"]], scheme);
  }
});

test("another account's source reads as missing in every operation", async () => {
  const source = await ingest.newSource(testPerson(), hmac);
  const other = testPerson();
  for (const [method, path, body] of [
    ["GET", pathOf(source)],
    ["PATCH", pathOf(source), { name: "Mine" }],
    ["DELETE", pathOf(source)],
    ["GET", `${pathOf(source)}/received`],
    ["GET", `${pathOf(source)}/rejections`],
  ] as const) {
    const answer = await ingest.send(other, method, path, body ? { body } : {});
    assert.equal(answer.status, 404, `${method} ${path}`);
  }
  assert.deepEqual((await ingest.send(other, "GET", sourcesPath)).body.items, []);
});

test("operations need their scopes", async () => {
  assert.equal((await ingest.send(null, "GET", sourcesPath)).status, 401);
  const reader = testPerson({ scopes: ["webhooks:read"] });
  assert.equal((await ingest.send(reader, "GET", sourcesPath)).status, 200);
  assert.equal((await ingest.send(reader, "POST", sourcesPath, { body: hmac })).status, 403);
});

test("fifty concurrent creations fill an account to its limit, and the rest are refused with the limit", async () => {
  const who = testPerson();
  const create = () => ingest.send(who, "POST", sourcesPath, { body: hmac });
  const answers = await Promise.all(Array.from({ length: 50 }, create));
  assert.equal(answers.filter(({ status }) => status === 201).length, 5);
  const refused = answers.filter(({ status }) => status === 409);
  assert.equal(refused.length, 45);
  for (const { body } of refused) {
    const message = "The account has 5 sources; delete one that is not needed.";
    assert.deepEqual(body.error.details, [{ field: "sources", code: "too_many", message }]);
  }
  const { items } = (await ingest.send(who, "GET", sourcesPath)).body;
  assert.equal(items.length, 5);
  assert.equal((await ingest.eventsOf(who.accountId, 5)).length, 5);
  assert.equal((await ingest.send(who, "DELETE", pathOf(items[0]))).status, 204);
  assert.equal((await create()).status, 201, "a deleted source makes room");
});

test("sources are listed newest first, page by page", async () => {
  const who = testPerson();
  for (const name of ["a", "b", "c"]) await ingest.newSource(who, { ...hmac, name });
  const first = (await ingest.send(who, "GET", `${sourcesPath}?limit=2`)).body;
  const rest = (await ingest.send(who, "GET", `${sourcesPath}?limit=2&cursor=${first.next_cursor}`)).body;
  const names = [...first.items, ...rest.items].map(({ name }: { name: string }) => name);
  assert.deepEqual([names, first.has_more, rest.has_more], [["c", "b", "a"], true, false]);
  assert.equal((await ingest.send(who, "GET", `${sourcesPath}?limit=101`)).status, 400);
});

test("a deleted source accepts nothing and leaves nothing behind", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  assert.equal((await ingest.post(source, sign("hmac"))).status, 202);
  assert.equal((await ingest.send(who, "DELETE", pathOf(source))).status, 204);
  assert.equal((await ingest.post(source, sign("hmac"))).status, 404);
  assert.equal((await ingest.send(who, "GET", `${pathOf(source)}/received`)).status, 404);
  const tables = ["received_deliveries", "received_keys", "rejections"].map(
    (table) => `select source_id from ${table}`,
  );
  const left = `select 1 from (${tables.join(" union all ")}) as rows where source_id = $1
    union all select 1 from removed_sources where id = $1`;
  await eventually(async () => (await ingest.pool.query({ name: "", text: left }, [source.id])).rowCount === 0);
  const deleted = await ingest.eventsOf(who.accountId, 1, "webhook_source.deleted");
  assert.equal(deleted[0]?.subject, source.id);
});

test("a creation repeated under its key makes one source", async () => {
  const who = testPerson();
  const headers = { "idempotency-key": crypto.randomUUID() };
  const answers = [];
  for (let count = 0; count < 2; count++) {
    answers.push((await ingest.send(who, "POST", sourcesPath, { headers, body: hmac })).body.id);
  }
  assert.equal(answers[0], answers[1]);
  assert.equal((await ingest.send(who, "GET", sourcesPath)).body.items.length, 1);
});

test("GraphQL shows the account its sources", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { ...hmac, event_types: ["a"] });
  const query = `query($of: [_Any!]!) { _entities(representations: $of) { ... on Account {
    webhookSources(first: 1) { edges { node { id name eventTypes ingestPath forward } } pageInfo { hasNextPage } } } } }`;
  const ask = (id: string) => ingest.graphql(who, query, { of: [{ __typename: "Account", id }] });
  const { data, errors } = await ask(who.accountId);
  assert.equal(errors, undefined);
  assert.deepEqual(data._entities[0].webhookSources, {
    edges: [
      { node: { id: source.id, name: "Shop", eventTypes: ["a"], ingestPath: source.ingest_path, forward: true } },
    ],
    pageInfo: { hasNextPage: false },
  });
  const foreign = await ask(testPerson().accountId);
  assert.equal(foreign.data._entities[0].webhookSources, null);
  assert.equal(foreign.errors[0].extensions.code, "FORBIDDEN");
});

test("a hundred sources of a query are one statement, each of their lists is one more, and other accounts' are null", async () => {
  const who = testPerson();
  const sources = [await ingest.newSource(who, hmac), await ingest.newSource(who, hmac)];
  const foreign = await ingest.newSource(testPerson(), hmac);
  for (const source of [...sources, foreign]) {
    assert.equal((await ingest.post(source, sign("hmac"))).status, 202);
    assert.equal((await ingest.post(source, { ...sign("hmac"), body: "{}" })).status, 401);
    const body = { from: new Date(Date.now() - 60_000).toISOString() };
    const replay = await ingest.send(who, "POST", `${pathOf(source)}/replays`, { body });
    assert.equal(replay.status, source === foreign ? 404 : 202);
  }
  let statements: string[] = [];
  const query: Pool["query"] = (...sent) => {
    statements.push(/from (\w+)\s+where/.exec(sent[0].text)?.[1] ?? "");
    return ingest.pool.query(...sent);
  };
  const pool = { ...ingest.pool, query };
  const { clock, log } = ingest.context;
  const service = serviceWith<IngestService>({
    pool,
    clock,
    configuration: configurationWith({ "http.base-url": "", "webhook-ingest.received.retention": 0 }),
    pageLimits: { maxPageSize: () => 100, pageSize: () => 20 },
    replayEngine: new ReplayEngine(replayKind, { pool, outbox: {} as Outbox, clock }),
    retryEngine: new ReplayEngine(retryKind, { pool, outbox: {} as Outbox, clock }),
    sourceStatistics: { stored: {} as Statistics },
  });
  const { resolvers } = serviceEdges(service);
  const typeDefs = await readFile(new URL("../subgraph.graphql", import.meta.url), "utf8");
  const served = await serveListener(createSubgraph({ typeDefs, resolvers, clock, log }));
  const ids = Array.from({ length: 100 }, (_, at) => [...sources.map(({ id }) => id), foreign.id, `src_${at}`][at % 4]);
  const of = ids.map((id) => ({ __typename: "WebhookSource", id }));
  const ask = async (fields: string) => {
    statements = [];
    const text = `query($of: [_Any!]!) { _entities(representations: $of) { ... on WebhookSource { ${fields} } } }`;
    return (await createSubgraphClient(served.url)(who, text, { of })).data._entities;
  };
  const own = ids.map((id) => sources.some((source) => source.id === id));
  assert.deepEqual(
    await ask("name"),
    own.map((isOwn) => (isOwn ? { name: "Shop" } : null)),
  );
  assert.deepEqual(statements, ["sources"]);
  const rows = "edges { node { id } }";
  const found = await eventually(async () => {
    const answered = await ask(`received { ${rows} } rejections { ${rows} } replays { ${rows} }`);
    return answered[0].rejections.edges.length === 1 && answered[1].rejections.edges.length === 1 ? answered : null;
  });
  await served.close();
  assert.deepEqual(
    found.map((source: object | null) => source !== null),
    own,
  );
  for (const list of ["received", "rejections", "replays"]) {
    const idsIn = found.flatMap((source: Record<string, { edges: { node: { id: string } }[] }> | null) =>
      (source?.[list]?.edges ?? []).map(({ node }) => node.id),
    );
    assert.deepEqual([idsIn.length, new Set(idsIn).size], [50, 2], `each source has its own ${list}`);
  }
  assert.deepEqual(statements.toSorted(), ["received_deliveries", "received_replays", "rejections", "sources"]);
});

test("the migrations lead to the schema", async () => {
  assert.equal(await schemaDifference(prismaDirectory, ingest.context.configuration.get("database.url")), "");
});
