import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testPerson } from "@signalbox/testing";
import { getIntrospectionQuery } from "graphql";
import { type Harness, startGateway } from "./harness.ts";

let gateway: Harness;
before(async () => {
  gateway = await startGateway({
    "graphql.limits.cost": 150,
    "graphql.limits.cost-window": 250,
    "graphql.limits.anonymous-cost-window": 3,
  });
});
after(() => gateway.close());

const page = (first: number) => `{ viewer { images(first: ${first}) { edges { cursor } } } }`;
const costsOf = ({ headers }: { headers: Headers }) => [headers.get("x-cost-estimated"), headers.get("x-cost-actual")];

test("an operation tells its estimated and its actual cost", async () => {
  const answer = await gateway.query(testPerson(), page(50));
  assert.deepEqual(costsOf(answer), ["52", "3"]);
  assert.equal(answer.body.data.viewer.images.edges.length, 1);
});

test("an operation above the limit is refused before anything is fetched for it", async () => {
  const { heard } = gateway.subgraphs.get("account") ?? assert.fail();
  const before = heard.length;
  const two = `{ viewer { a: images(first: 100) { edges { cursor } } b: images(first: 100) { edges { cursor } } } }`;
  const { body, ...answer } = await gateway.query(testPerson(), two);
  assert.deepEqual([answer.status, body.errors[0].extensions], [200, { code: "LIMIT_COST" }]);
  assert.deepEqual([costsOf(answer), heard.length], [["203", "0"], before]);
});

test("a list that is no page is estimated by its assumed length", async () => {
  const { headers } = await gateway.query(
    testPerson(),
    "{ viewer { images(first: 1) { edges { node { variants { name } } } } } }",
  );
  assert.equal(headers.get("x-cost-estimated"), String(1 + 1 + 1 + 1 + 5));
});

test("what an estimate has above the objects that were sent is given back", async () => {
  const person = testPerson();
  for (let count = 0; count < 5; count++) assert.equal((await gateway.query(person, page(100))).status, 200);
});

test("standard introspection passes twelve times a minute without a credential", async (t) => {
  const open = await startGateway();
  t.after(() => open.close());
  const every = {
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
  };
  const answers = [];
  for (let count = 0; count < 12; count++) answers.push(await open.query(null, getIntrospectionQuery(every)));
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.errors, typeof body.data?.__schema]),
    answers.map(() => [200, undefined, "object"]),
  );
});

test("operations that cost too much together have to wait, whoever sends them and however few they are", async () => {
  const person = testPerson();
  const types = () => gateway.query(person, "{ __schema { types { name } } }");
  let refused = await types();
  for (let count = 1; refused.status === 200 && count < 20; count++) refused = await types();
  assert.deepEqual([refused.status, refused.body.errors[0].extensions.code], [429, "RATE_LIMITED"]);
  assert.ok(Number(refused.headers.get("retry-after")) >= 1);
  assert.equal((await gateway.query(testPerson(), page(100))).status, 200, "another credential has its own");
  const settings = () => gateway.query(null, "{ serverSettings { server { name } } }");
  assert.deepEqual([(await settings()).status, (await settings()).status], [200, 429]);
});

test("with graphql.limits.mode=measure the cost is told but nothing refused", async () => {
  const measuring = await startGateway({ "graphql.limits.cost": 10, "graphql.limits.mode": "measure" });
  const answer = await measuring.query(testPerson(), page(100));
  await measuring.close();
  assert.deepEqual([answer.status, answer.body.errors, costsOf(answer)], [200, undefined, ["102", "3"]]);
});

test("the work for new operations is charged to their caller, who waits when the budget is used up", async (t) => {
  const working = await startGateway({ "http.rate-limit.credential.processor-time": 60 });
  t.after(() => working.close());
  const person = testPerson();
  const members = ["id", "displayName", "locale", "timezone", "state", "createdAt", "updatedAt"];
  // Each is a shape of its own, so each needs a plan.
  const unseen = (at: number) => `{ viewer { ${members.filter((_, bit) => (at >> bit) & 1).join(" ")} } }`;
  let answer = await working.query(person, unseen(1));
  for (let at = 2; answer.status === 200 && at < 128; at++) answer = await working.query(person, unseen(at));
  assert.deepEqual([answer.status, answer.body.errors[0].extensions.code], [429, "RATE_LIMITED"]);
  assert.ok(Number(answer.headers.get("retry-after")) >= 1);
  assert.equal((await working.query(testPerson(), unseen(1))).status, 200, "another credential has its own");
});
