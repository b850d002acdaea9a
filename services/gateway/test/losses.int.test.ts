import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { after, afterEach, before, test } from "node:test";
import { type TestAnswer, testPerson } from "@signalbox/testing";
import { type Harness, startGateway } from "./harness.ts";
import type { SubgraphName } from "./subgraphs.ts";

let gateway: Harness;
const person = testPerson();
before(async () => {
  gateway = await startGateway({ "graphql.subgraph-deadline": 500 });
});
after(() => gateway.close());
afterEach(() => {
  for (const subgraph of gateway.subgraphs.values()) subgraph.instead = null;
});

const subgraph = (name: SubgraphName) => gateway.subgraphs.get(name) ?? assert.fail();
const answering =
  (status: number, body: string): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  };
const result = (value: object) => answering(200, JSON.stringify(value));

/** Path and code of each error, in the order of the paths. */
const errorsOf = ({ body }: TestAnswer) =>
  (body.errors ?? [])
    .map(
      ({ path, extensions }: { path?: unknown[]; extensions: { code: string } }) =>
        `${path?.join(".")} ${extensions.code}`,
    )
    .sort();

const joined = "{ me: viewer { id pictures: images { edges { cursor } } } serverSettings { locale } }";

test("a fetch that fails leaves an error at each field that it cost, which says whether to try again", async () => {
  const failures: [string, RequestListener, "UNAVAILABLE" | "INTERNAL"][] = [
    ["502", answering(502, "<html>"), "UNAVAILABLE"],
    ["503", answering(503, "{}"), "UNAVAILABLE"],
    ["silence", () => {}, "UNAVAILABLE"],
    ["a torn connection", (request) => request.socket.destroy(), "UNAVAILABLE"],
    ["no JSON", answering(200, "<html>"), "INTERNAL"],
    ["no result", answering(200, "[]"), "INTERNAL"],
    ["500", answering(500, "{}"), "INTERNAL"],
  ];
  for (const [name, failure, code] of failures) {
    subgraph("images").instead = failure;
    const answer = await gateway.query(person, joined, { headers: { "x-request-id": "r-lost" } });
    assert.equal(answer.status, 200, name);
    assert.deepEqual(answer.body.data, {
      me: { id: person.accountId, pictures: null },
      serverSettings: { locale: "en" },
    });
    assert.deepEqual(errorsOf(answer), [`me.pictures ${code}`], name);
    const { extensions } = answer.body.errors[0];
    const wanted =
      code === "UNAVAILABLE" ? { code, request_id: "r-lost", retryAfterSeconds: 2 } : { code, request_id: "r-lost" };
    assert.deepEqual(extensions, wanted, name);
    assert.doesNotMatch(answer.text, /127\.0\.0\.1|ECONN|UND_ERR|answered|html/, name);
  }
});

test("a query is sent once more where its connection broke or the subgraph was away, and a mutation is not", async () => {
  const text = 'mutation { updateAccount(input: { displayName: "Eve" }) { account { id } } }';
  const failures: [string, RequestListener][] = [
    ["a torn connection", (request) => request.socket.destroy()],
    ["502", answering(502, "")],
    ["503", answering(503, "")],
  ];
  for (const [name, failure] of failures) {
    const account = subgraph("account");
    const failOnce: RequestListener = (request, response) => {
      account.instead = null;
      failure(request, response);
    };
    account.instead = failOnce;
    const query = await gateway.query(person, "{ viewer { id } }");
    assert.deepEqual(query.body, { data: { viewer: { id: person.accountId } } }, name);
    account.instead = failOnce;
    const mutation = await gateway.query(person, text);
    assert.deepEqual(errorsOf(mutation), ["updateAccount UNAVAILABLE"], name);
  }
});

test("a root field that is lost leaves the other ones", async () => {
  subgraph("config").instead = answering(502, "");
  const answer = await gateway.query(person, "{ viewer { id } serverSettings { locale } properties { name } }");
  assert.deepEqual(answer.body.data, { viewer: { id: person.accountId }, serverSettings: null, properties: null });
  assert.deepEqual(errorsOf(answer), ["properties UNAVAILABLE", "serverSettings UNAVAILABLE"]);
});

test("a field of a list is named with its index", async () => {
  subgraph("images").instead = answering(502, "");
  const answer = await gateway.query(person, "{ all: accounts { edges { node { id images { edges { cursor } } } } } }");
  assert.deepEqual(errorsOf(answer), ["all.edges.0.node.images UNAVAILABLE", "all.edges.1.node.images UNAVAILABLE"]);
});

test("twenty fields are named, and the others counted", async () => {
  subgraph("images").instead = answering(502, "");
  const fields = Array.from({ length: 25 }, (_, at) => `i${at}: images(first: ${at + 1}) { edges { cursor } }`);
  const { body } = await gateway.query(person, `{ viewer { ${fields.join(" ")} } }`);
  assert.equal(body.errors.length, 21);
  const last = body.errors.at(-1);
  assert.deepEqual([last.path, last.message], [undefined, "5 more fields are missing for the same reason."]);
});

test("a mutation that got no answer says that its outcome is unknown; one that was never sent does not", async () => {
  const text = 'mutation { updateAccount(input: { displayName: "Eve" }) { account { id } } }';
  subgraph("account").instead = (request) => request.socket.destroy();
  const torn = await gateway.query(person, text);
  assert.equal(torn.body.errors[0].extensions.outcome, "unknown");
  subgraph("account").instead = answering(500, "{}");
  const refused = await gateway.query(person, text);
  assert.deepEqual(
    [refused.body.errors[0].extensions.code, refused.body.errors[0].extensions.outcome],
    ["INTERNAL", undefined],
  );
});

test("a value that its type does not allow becomes null with an INTERNAL error at its path", async () => {
  const page = (edges: unknown) =>
    result({ data: { _entities: [{ images: { edges, pageInfo: { hasNextPage: false } } }] } });
  const cases: [string, RequestListener, string[]][] = [
    ["{ viewer { images { edges { cursor } } } }", page(null), ["viewer.images INTERNAL"]],
    ["{ viewer { images { edges { cursor } } } }", page("none"), ["viewer.images INTERNAL"]],
    ["{ viewer { images { edges { cursor } } } }", page([{ cursor: 7 }]), ["viewer.images INTERNAL"]],
    [
      "{ viewer { images { edges { node { title tags } } } } }",
      page([{ node: { title: 7, tags: [] } }]),
      ["viewer.images.edges.0.node.title INTERNAL"],
    ],
    [
      "{ viewer { images { pageInfo { endCursor } } } }",
      result({ data: { _entities: [{ images: 1 }] } }),
      ["viewer.images INTERNAL"],
    ],
  ];
  for (const [query, listener, errors] of cases) {
    subgraph("images").instead = listener;
    const answer = await gateway.query(person, query);
    assert.deepEqual(errorsOf(answer), errors, answer.text);
    assert.deepEqual(Object.keys(answer.body).sort(), ["data", "errors"], answer.text);
  }
});

test("a wrong value is told beside an error of another field too", async () => {
  subgraph("images").instead = result({ data: { _entities: [{ images: 1 }] } });
  subgraph("webhook-delivery").instead = answering(502, "");
  const query = "{ viewer { images { edges { cursor } } webhookEndpoints { edges { cursor } } } }";
  const errors = ["viewer.images INTERNAL", "viewer.webhookEndpoints UNAVAILABLE"];
  assert.deepEqual(errorsOf(await gateway.query(person, query)), errors);
});

test("what a subgraph says of its own fields stays as it is, its extensions left out", async () => {
  const errors = [
    { message: "No.", path: ["_entities", 0, "images"], extensions: { code: "NOT_FOUND", stack: "inside" } },
  ];
  subgraph("images").instead = result({ data: { _entities: [{ images: null }] }, errors, extensions: { cost: 1 } });
  const { body } = await gateway.query(person, "{ viewer { images { edges { cursor } } } }");
  assert.deepEqual(body, {
    errors: [{ message: "No.", path: ["viewer", "images"], extensions: { code: "NOT_FOUND" } }],
    data: { viewer: { images: null } },
  });
});

// Last: what goes away here does not come back.
test("while a subgraph is away its fields are UNAVAILABLE and the rest of the answer stands", async () => {
  const { url, port, close } = subgraph("webhook-delivery");
  await close();
  const answer = await gateway.query(
    person,
    "{ viewer { id webhookEndpoints { edges { cursor } } } serverSettings { locale } }",
  );
  assert.equal(answer.status, 200);
  const viewer = { id: person.accountId, webhookEndpoints: null };
  assert.deepEqual(answer.body.data, { viewer, serverSettings: { locale: "en" } });
  assert.deepEqual(errorsOf(answer), ["viewer.webhookEndpoints UNAVAILABLE"]);
  for (const inside of [url, String(port), "127.0.0.1", "ECONN", "webhook-delivery"]) {
    assert.ok(!answer.text.includes(inside), `${inside} was shown: ${answer.text}`);
  }
});
