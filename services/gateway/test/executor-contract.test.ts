import assert from "node:assert/strict";
import { channel } from "node:diagnostics_channel";
import type { RequestListener } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { after, afterEach, before, test } from "node:test";
import { internalTokenHeader, type Principal } from "@signalbox/auth";
import { eventOf } from "@signalbox/contracts";
import { MiB, seconds } from "@signalbox/core";
import { clientAddressHeader, operationKeyHeader, principalHeader } from "@signalbox/http";
import { createInternalClient } from "@signalbox/net";
import {
  eventually,
  internalToken,
  serveListener,
  type TestContext,
  testContext,
  testPerson,
} from "@signalbox/testing";
import { getIntrospectionQuery, getOperationAST, parse } from "graphql";
import type { LiveEvent } from "../src/live/live-event.ts";
import { liveOperationOf } from "../src/live/live-operation.ts";
import { properties } from "../src/properties.ts";
import { openSupergraph } from "../src/supergraph/open-supergraph.ts";
import type { KeyedOperation, OperationContext } from "../src/supergraph/subgraph-sender.ts";
import { type Subgraph, type SubgraphName, startSubgraph, subgraphNames } from "./subgraphs.ts";
import { unlimitedWork } from "./test-operations.ts";

const person = testPerson();
let context: TestContext<typeof properties>;
let subgraphs: ReadonlyMap<SubgraphName, Subgraph>;

/** Every address that this process connects to, and every name that it asks for. */
const addresses = new Set<string>();
channel("net.client.socket").subscribe((message) => {
  const { socket } = message as { socket: import("node:net").Socket };
  socket.on("lookup", (_error, address, _family, host) => void addresses.add(address ?? host));
  socket.on("connectionAttempt", (ip) => void addresses.add(ip));
});

before(async () => {
  context = testContext("gateway", properties, {
    ...Object.fromEntries(subgraphNames.map((name) => [`${name}.internal-url`, "http://127.0.0.1:1"])),
    "events.url": "postgres://127.0.0.1:1/none",
    "internal.token": internalToken,
  });
  const started = subgraphNames.map(async (name) => [name, await startSubgraph(name, context, internalToken)] as const);
  subgraphs = new Map(await Promise.all(started));
});
after(async () => {
  await context.close();
  await Promise.all([...subgraphs.values()].map((subgraph) => subgraph.close()));
});
afterEach(() => {
  for (const one of subgraphs.values()) one.instead = null;
});

const subgraph = (name: SubgraphName) => subgraphs.get(name) ?? assert.fail(name);
const answering =
  (status: number, body: string): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  };
const result = (value: object) => answering(200, JSON.stringify(value));
const torn: RequestListener = (request) => request.socket.destroy();

interface Asked {
  readonly variables?: Record<string, unknown>;
  readonly principal?: Principal | null;
  readonly keyed?: KeyedOperation;
  readonly signal?: AbortSignal;
}

/** An answer with its data parsed, and its errors in the order of their paths. */
interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts what it reads.
  readonly data: any;
  readonly objects: number;
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts what it reads.
  readonly errors: readonly any[];
  readonly fetches: OperationContext["fetches"];
}

let supergraph: Awaited<ReturnType<typeof openSupergraph>>;
const open = (location: string | null = null) =>
  openSupergraph({
    location,
    clients: new Map(subgraphNames.map((name) => [name, clientOf(name)])),
    accessStates: { apply: () => assert.fail("no access changes here") },
    tracer: context.tracer,
    clock: context.clock,
    metrics: context.metrics,
    log: context.log,
    runner: context.runner,
    ask: {} as never,
    work: unlimitedWork,
  });
before(async () => {
  supergraph = await open();
});
after(() => supergraph.close());

async function ask(query: string, { variables = {}, principal = person.principal, ...asked }: Asked = {}) {
  const document = parse(query);
  const operation = getOperationAST(document) ?? assert.fail(query);
  const given: OperationContext = {
    principal,
    requestId: "r-contract",
    clientAddress: "192.0.2.7",
    fetches: [],
    keyed: asked.keyed ?? null,
    signal: asked.signal ?? new AbortController().signal,
  };
  const runnable = { query, document, operation, variables };
  const { data, objects, errors } = await supergraph.execute(runnable, given);
  const answer: Answer = { data: JSON.parse(data), objects, errors, fetches: given.fetches };
  return answer;
}
const codesAt = ({ errors }: Answer) =>
  errors.map(({ path, extensions }) => `${path?.join(".")} ${extensions.code}`).sort();

test("joins the answers of four subgraphs under the client's names, counting their objects", async () => {
  const query = `query Q($with: Boolean!, $first: Int = 5) {
    me: viewer { __typename id ...Shown images(first: $first) { edges { cursor node { id filename } } }
      webhookEndpoints @include(if: $with) { edges { cursor } } left: webhookEndpoints @skip(if: $with) { edges { cursor } } }
    serverSettings { locale }
  } fragment Shown on Account { called: displayName }`;
  const wanted = {
    me: {
      __typename: "Account",
      id: person.accountId,
      called: "Ada",
      images: { edges: [{ cursor: "of 5", node: { id: "img_1", filename: "photo.jpg" } }] },
      webhookEndpoints: { edges: [{ cursor: "of 20" }] },
    },
    serverSettings: { locale: "en" },
  };
  // The second time with the plan of the first.
  for (const _ of [1, 2]) {
    const answer = await ask(query, { variables: { with: true } });
    assert.deepEqual([answer.data, answer.errors, answer.objects], [wanted, [], 8]);
    const fetched = new Set(answer.fetches.map(({ subgraph: name, outcome }) => `${name} ${outcome}`));
    assert.deepEqual(fetched, new Set(["account ok", "images ok", "config ok", "webhook-delivery ok"]));
  }
});

test("runs a mutation with its variables, its fields in their order, once each", async () => {
  const { heard } = subgraph("account");
  const sent = heard.length;
  const text = `mutation($one: UpdateAccountInput!, $two: UpdateAccountInput!) {
    a: updateAccount(input: $one) { account { displayName } } b: updateAccount(input: $two) { account { displayName } } }`;
  const variables = { one: { displayName: "Eve" }, two: { displayName: "Mia" } };
  const { data, errors } = await ask(text, { variables });
  assert.deepEqual(errors, []);
  assert.equal(JSON.stringify(data), '{"a":{"account":{"displayName":"Eve"}},"b":{"account":{"displayName":"Mia"}}}');
  assert.ok(heard.length - sent <= 2);
});

test("sends a mutation once that is written twice, whatever the order of its input's members", async () => {
  const queries: string[] = [];
  const changed = { account: { id: "acc_1" } };
  subgraph("account").instead = (request, response) =>
    void textOf(request).then((body) => {
      queries.push(JSON.parse(body).query);
      result({ data: { updateAccount: changed, m: changed } })(request, response);
    });
  const text = `mutation($name: String) { m: updateAccount(input: { displayName: $name, locale: "en" }) { account { id } }
    ... on Mutation { m: updateAccount(input: { locale: "en", displayName: $name }) { account { id } } } }`;
  const { data, errors } = await ask(text, { variables: { name: "Eve" } });
  assert.deepEqual([data, errors], [{ m: { account: { id: "acc_1" } } }, []]);
  assert.equal(queries.join().match(/updateAccount\(/g)?.length, 1);
});

test("answers the standard introspection query, type names without a fetch", async () => {
  const { data } = await ask(getIntrospectionQuery());
  assert.ok(data.__schema.types.some(({ name }: { name: string }) => name === "Account"));
  const own = await ask("{ __typename }");
  assert.deepEqual([own.data, own.fetches], [{ __typename: "Query" }, []]);
});

test("takes the type of a node from its id, its existence from its owner", async () => {
  const text = `{ image: node(id: "img_1") { __typename id ... on Image { filename } }
    me: node(id: "${person.accountId}") { ... on Account { displayName } }
    none: node(id: "xyz_1") { id } odd: node(id: "") { id } }`;
  assert.deepEqual((await ask(text)).data, {
    image: { __typename: "Image", id: "img_1", filename: "photo.jpg" },
    me: { displayName: "Ada" },
    none: null,
    odd: null,
  });
  subgraph("images").instead = result({ data: { _entities: [null] } });
  const gone = await ask('{ node(id: "img_2") { id } }');
  assert.deepEqual([gone.data, gone.errors], [{ node: null }, []]);
  subgraph("images").instead = answering(503, "{}");
  const away = await ask('{ node(id: "img_3") { id } }');
  assert.deepEqual([away.data, codesAt(away)], [{ node: null }, ["node UNAVAILABLE"]]);
});

test("sends the principal, the request id and the client's address with every fetch", async () => {
  const query =
    "{ viewer { id images { edges { cursor } } webhookEndpoints { edges { cursor } } } serverSettings { locale } }";
  await ask(query);
  for (const name of ["account", "images", "config", "webhook-delivery"] as const) {
    const headers = subgraph(name).heard.at(-1) ?? assert.fail(name);
    assert.deepEqual([headers["x-request-id"], headers[clientAddressHeader]], ["r-contract", "192.0.2.7"], name);
    const principal = JSON.parse(Buffer.from(String(headers[principalHeader]), "base64url").toString());
    assert.equal(principal.accountId, person.accountId, name);
  }
  const anonymous = await ask("{ viewer { id } }", { principal: null });
  assert.deepEqual([anonymous.data, codesAt(anonymous)], [{ viewer: null }, ["viewer UNAUTHENTICATED"]]);
  assert.equal(subgraph("account").heard.at(-1)?.[principalHeader], undefined);
});

test("sends the key of a mutation with its first fetch from a subgraph, later ones apart, noting a replay", async () => {
  const rename = (alias: string) => `${alias}: updateAccount(input: { displayName: "Eve" }) { account { id } }`;
  const keyed = () => ({
    key: "once",
    fingerprint: Buffer.from("of the operation"),
    sentTo: new Set<string>(),
    isReplayed: false,
  });
  const { heard } = subgraph("account");
  const sent = heard.length;
  subgraph("images").instead = result({ data: { deleteImage: { deletedImageId: "img_1" } } });
  const image = 'deleteImage(id: "img_1") { deletedImageId }';
  const fresh = keyed();
  await ask(`mutation { ${rename("a")} ${image} ${rename("b")} }`, { keyed: fresh });
  const places = heard.slice(sent).map((headers) => String(headers[operationKeyHeader]).split(" ")[0]);
  assert.deepEqual([places, fresh.isReplayed], [["first", "later"], false]);

  subgraph("account").instead = result({
    data: { a: { account: { id: "acc_1" } }, updateAccount: { account: { id: "acc_1" } } },
    extensions: { idempotentReplayed: true },
  });
  const repeated = keyed();
  const { data } = await ask(`mutation { ${rename("a")} }`, { keyed: repeated });
  assert.deepEqual([data, repeated.isReplayed], [{ a: { account: { id: "acc_1" } } }, true]);
});

test("keeps code, message and details of a subgraph's error, at the client's path", async () => {
  const page = await ask("{ me: viewer { id pictures: images(first: 101) { edges { cursor } } } }");
  assert.deepEqual(codesAt(page), ["me.pictures VALIDATION_FAILED"]);
  assert.match(page.errors[0].message, /100/);
  assert.deepEqual(page.data, { me: { id: person.accountId, pictures: null } });
  const state = await ask("{ viewer { images { edges { cursor } } } }", {
    principal: testPerson({ state: "disabled" }).principal,
  });
  assert.deepEqual(codesAt(state), ["viewer.images FORBIDDEN"]);
  const stale = testPerson({ authTimeMs: 0 }).principal;
  const stepUp = await ask("mutation { signOutEverywhere { account { id } } }", { principal: stale });
  assert.equal(stepUp.errors[0].extensions.details[0].code, "step_up_required");
});

test("leaves out the extensions of a subgraph's whole answer", async () => {
  const errors = [{ message: "No.", path: ["_entities", 0, "images"], extensions: { code: "NOT_FOUND" } }];
  subgraph("images").instead = result({ data: { _entities: [{ images: null }] }, errors, extensions: { cost: 1 } });
  const answer = await ask("{ viewer { images { edges { cursor } } } }");
  assert.deepEqual([answer.data, codesAt(answer)], [{ viewer: { images: null } }, ["viewer.images NOT_FOUND"]]);
  assert.equal(answer.errors[0].message, "No.");
});

test("turns a null that its type forbids into an error that stops at the nearest field that may be null", async () => {
  const inner = await ask("{ viewer { id timezone } }");
  assert.deepEqual([inner.data, codesAt(inner)], [{ viewer: null }, ["viewer.timezone NOT_FOUND"]]);
});

const failures: readonly [string, RequestListener, "UNAVAILABLE" | "INTERNAL"][] = [
  ["502", answering(502, "<html>"), "UNAVAILABLE"],
  ["503", answering(503, "{}"), "UNAVAILABLE"],
  ["a torn connection", torn, "UNAVAILABLE"],
  ["silence", () => {}, "UNAVAILABLE"],
  ["no JSON", answering(200, "<html>"), "INTERNAL"],
  ["no result", answering(200, "[]"), "INTERNAL"],
  ["data that is no object", answering(200, '{"data":7}'), "INTERNAL"],
  ["errors that are no list", answering(200, '{"data":{"_entities":[{}]},"errors":"No."}'), "INTERNAL"],
  ["a null among the errors", answering(200, '{"data":{"_entities":[{}]},"errors":[null]}'), "INTERNAL"],
  ["a path that is none", answering(200, '{"data":null,"errors":[{"message":"No.","path":"id"}]}'), "INTERNAL"],
  ["500", answering(500, "{}"), "INTERNAL"],
];
for (const [name, failure, code] of failures) {
  test(`puts the loss of a fetch at just the fields that it cost: ${name}`, async () => {
    subgraph("images").instead = failure;
    const query = "{ me: viewer { id pictures: images { edges { cursor } } } serverSettings { locale } }";
    const answer = await ask(query);
    const data = { me: { id: person.accountId, pictures: null }, serverSettings: { locale: "en" } };
    assert.deepEqual([answer.data, codesAt(answer)], [data, [`me.pictures ${code}`]]);
    const { loss } = answer.errors[0].extensions;
    assert.deepEqual([loss.subgraph, loss.retryAfterSeconds], ["images", code === "UNAVAILABLE" ? 2 : undefined]);
    const fetched = answer.fetches.find(({ subgraph: one }) => one === "images");
    assert.equal(fetched?.outcome, code === "UNAVAILABLE" ? "unavailable" : "fault");
  });
}

test("places a loss at root fields, at each item of a list, once for a subgraph of several fields", async () => {
  subgraph("config").instead = answering(502, "");
  const roots = await ask("{ viewer { id } serverSettings { locale } properties { name } }");
  assert.deepEqual(roots.data, { viewer: { id: person.accountId }, serverSettings: null, properties: null });
  assert.deepEqual(codesAt(roots), ["properties UNAVAILABLE", "serverSettings UNAVAILABLE"]);
  subgraph("images").instead = answering(502, "");
  const list = await ask("{ all: accounts { edges { node { id images { edges { cursor } } } } } }");
  const lost = [0, 1].map((at) => `all.edges.${at}.node.images UNAVAILABLE`);
  assert.deepEqual(codesAt(list), lost);
});

test("names twenty lost fields, counting the others", async () => {
  subgraph("images").instead = answering(502, "");
  const fields = Array.from({ length: 25 }, (_, at) => `i${at}: images(first: ${at + 1}) { edges { cursor } }`);
  const { errors } = await ask(`{ viewer { ${fields.join(" ")} } }`);
  assert.deepEqual([errors.length, errors.at(-1).path, errors.at(-1).extensions.missing], [21, undefined, 5]);
});

test("sends a query once more where its connection broke, but never a mutation", async () => {
  const failOnce: RequestListener = (request, response) => {
    subgraph("account").instead = null;
    torn(request, response);
  };
  subgraph("account").instead = failOnce;
  assert.deepEqual((await ask("{ viewer { id } }")).errors, []);
  subgraph("account").instead = failOnce;
  const text = 'mutation { updateAccount(input: { displayName: "Eve" }) { account { id } } }';
  const mutation = await ask(text);
  assert.deepEqual(codesAt(mutation), ["updateAccount UNAVAILABLE"]);
  assert.equal(mutation.errors[0].extensions.loss.outcome, "unknown");
  subgraph("account").instead = answering(500, "{}");
  assert.equal((await ask(text)).errors[0].extensions.loss.outcome, undefined);
});

test("turns a value that its type does not allow into null with INTERNAL at its path", async () => {
  const page = (edges: unknown) =>
    result({ data: { _entities: [{ images: { edges, pageInfo: { hasNextPage: false } } }] } });
  const cases: readonly [string, RequestListener, string][] = [
    ["{ viewer { images { edges { cursor } } } }", page(null), "viewer.images.edges INTERNAL"],
    ["{ viewer { images { edges { cursor } } } }", page("none"), "viewer.images.edges INTERNAL"],
    ["{ viewer { images { edges { cursor } } } }", page([{ cursor: 7 }]), "viewer.images.edges.0.cursor INTERNAL"],
    [
      "{ viewer { images { edges { node { title tags } } } } }",
      page([{ node: { title: 7, tags: [] } }]),
      "viewer.images.edges.0.node.title INTERNAL",
    ],
    [
      "{ viewer { images { pageInfo { endCursor } } } }",
      result({ data: { _entities: [{ images: 1 }] } }),
      "viewer.images INTERNAL",
    ],
  ];
  for (const [query, listener, error] of cases) {
    subgraph("images").instead = listener;
    assert.deepEqual(codesAt(await ask(query)), [error], query);
  }
  subgraph("webhook-delivery").instead = answering(502, "");
  const both = await ask("{ viewer { images { edges { cursor } } webhookEndpoints { edges { cursor } } } }");
  assert.deepEqual(codesAt(both), ["viewer.images INTERNAL", "viewer.webhookEndpoints UNAVAILABLE"]);
});

test("answers with what it has when the operation is aborted, ending its fetches", async () => {
  const counts = { waiting: 0, ended: 0 };
  subgraph("images").instead = (_request, response) => {
    counts.waiting++;
    response.once("close", () => counts.ended++);
  };
  const ending = new AbortController();
  const asked = ask("{ viewer { id images { edges { cursor } } } }", { signal: ending.signal });
  await eventually(() => counts.waiting === 1);
  ending.abort();
  const answer = await asked;
  assert.deepEqual(answer.data, { viewer: { id: person.accountId, images: null } });
  assert.deepEqual(codesAt(answer), ["viewer.images UNAVAILABLE"]);
  await eventually(() => counts.ended === 1);
  const late = await ask("{ viewer { id images { edges { cursor } } } }", { signal: ending.signal });
  assert.deepEqual([late.data, counts.waiting], [{ viewer: null }, 1]);
});

test("completes what an event tells of by the query of its subscription", async () => {
  const query = `subscription S($with: Boolean!) {
    told: imageChanged { at: event { what: type } names: changed pic: image { ...F } other: image @include(if: $with) { id } }
  } fragment F on Image { key: id called: filename }`;
  const document = parse(query);
  const operation = getOperationAST(document) ?? assert.fail();
  const live = liveOperationOf(supergraph.schema, {
    query,
    document,
    operation,
    variables: { with: true },
  } as never);
  const entity = live.entityQuery ?? assert.fail();
  const event = { id: "evt", name: "image.updated", time: new Date(0), data: changedImage } as LiveEvent["event"];
  const tell = async () => {
    const answer = await ask(entity.query, { variables: { ...entity.variables, [entity.idVariable]: "img_1" } });
    const shaped = live.shape({ event } as LiveEvent, "cursor", { data: answer.data, errors: [...answer.errors] });
    return JSON.parse(JSON.stringify(shaped));
  };
  const told = { at: { what: "image.updated" }, names: ["title"] };
  const whole = { ...told, pic: { key: "img_1", called: "photo.jpg" }, other: { id: "img_1" } };
  assert.deepEqual(await tell(), { data: { told: whole } });
  subgraph("images").instead = answering(502, "");
  const { data, errors } = await tell();
  assert.deepEqual(data, { told: { ...told, pic: null, other: null } });
  const paths = errors.map(({ path, extensions }: Answer["errors"][number]) => `${path.join(".")} ${extensions.code}`);
  assert.deepEqual(paths.sort(), ["told.other UNAVAILABLE", "told.pic UNAVAILABLE"]);
});

test("refuses a supergraph that it cannot run", async (t) => {
  const source = await serveListener((_request, response) => void response.end("type Query { viewer: String }"));
  t.after(() => source.close());
  await assert.rejects(open(`${source.url}/supergraph.graphql`), /Invalid supergraph/);
});

test("connects to the subgraphs alone", () => {
  assert.ok(addresses.size > 0, "the subgraphs were called");
  assert.deepEqual(
    [...addresses].filter((address) => address !== "127.0.0.1"),
    [],
  );
});

const changedImage = { ...eventOf("image.updated").example, changed: ["title"] };

function clientOf(name: SubgraphName) {
  const client = createInternalClient({
    url: subgraph(name).url,
    headers: () => ({ [internalTokenHeader]: internalToken }),
    deadlineMs: seconds(1),
    responseBytesMax: MiB,
    connections: 8,
  });
  context.runner.defer(`${name} client`, () => client.close());
  return client;
}
