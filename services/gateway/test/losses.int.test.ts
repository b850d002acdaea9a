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

test("a loss says whether to try again, under the request's id, and nothing of the inside", async () => {
  const failures: [RequestListener, "UNAVAILABLE" | "INTERNAL"][] = [
    [answering(502, "<html>"), "UNAVAILABLE"],
    [() => {}, "UNAVAILABLE"],
    [(request) => request.socket.destroy(), "UNAVAILABLE"],
    [answering(200, "<html>"), "INTERNAL"],
    [answering(200, '{"data":{"_entities":[{"images":1}]}}'), "INTERNAL"],
  ];
  for (const [failure, code] of failures) {
    subgraph("images").instead = failure;
    const answer = await gateway.query(person, joined, { headers: { "x-request-id": "r-lost" } });
    assert.equal(answer.status, 200);
    const data = { me: { id: person.accountId, pictures: null }, serverSettings: { locale: "en" } };
    assert.deepEqual(answer.body.data, data);
    assert.deepEqual(errorsOf(answer), [`me.pictures ${code}`]);
    const retry = code === "UNAVAILABLE" ? { retryAfterSeconds: 2 } : {};
    assert.deepEqual(answer.body.errors[0].extensions, { code, request_id: "r-lost", ...retry });
    assert.doesNotMatch(answer.text, /127\.0\.0\.1|ECONN|UND_ERR|answered|html/);
  }
});

test("the fields that a loss has cost beyond twenty are counted in a sentence", async () => {
  subgraph("images").instead = answering(502, "");
  const fields = Array.from({ length: 25 }, (_, at) => `i${at}: images(first: ${at + 1}) { edges { cursor } }`);
  const { body } = await gateway.query(person, `{ viewer { ${fields.join(" ")} } }`);
  const last = body.errors.at(-1);
  assert.deepEqual([last.path, last.message], [undefined, "5 more fields are missing for the same reason."]);
});

test("a mutation that got no answer says that its outcome is unknown", async () => {
  subgraph("account").instead = (request) => request.socket.destroy();
  const text = 'mutation { updateAccount(input: { displayName: "Eve" }) { account { id } } }';
  const torn = await gateway.query(person, text);
  assert.equal(torn.body.errors[0].extensions.outcome, "unknown");
});

test("what a subgraph says of its own fields reaches the client without what is not for it", async () => {
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
