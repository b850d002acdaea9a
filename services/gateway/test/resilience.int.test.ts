import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { after, afterEach, before, test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, startGateway } from "./harness.ts";
import type { SubgraphName } from "./subgraphs.ts";

let gateway: Harness;
const person = testPerson();
before(async () => {
  gateway = await startGateway({ "graphql.subgraph-deadline": 60_000, "graphql.deadline": 3_000 });
});
after(() => gateway.close());
afterEach(() => {
  for (const subgraph of gateway.subgraphs.values()) subgraph.instead = null;
});

const subgraph = (name: SubgraphName, of = gateway) => of.subgraphs.get(name) ?? assert.fail();
const images = (n = 0) => `query I${n} { viewer { id images { edges { cursor } } } }`;
const change = 'mutation { updateAccount(input: { displayName: "Eve" }) { account { id } } }';

/** Never answers, and tells how many wait and how many have been given up. */
function hang(name: SubgraphName, of = gateway) {
  const counts = { waiting: 0, ended: 0 };
  const listener: RequestListener = (_request, response) => {
    counts.waiting++;
    response.once("close", () => counts.ended++);
  };
  subgraph(name, of).instead = listener;
  return counts;
}

/** Sends an operation, to be left before its answer. */
function begin(query: string, to = gateway) {
  const leaving = new AbortController();
  const answer = fetch(`${to.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", ...person.headers },
    body: JSON.stringify({ query }),
    signal: leaving.signal,
  }).catch(() => null);
  return { leave: () => leaving.abort(), answer };
}

test("a client that goes away ends the fetches of its query, not those of a mutation", async () => {
  const [pictures, accounts] = [hang("images"), hang("account")];
  subgraph("account").instead = null;
  const query = begin(images());
  await eventually(() => pictures.waiting === 1);
  query.leave();
  await eventually(() => pictures.ended === 1);

  let finish = () => {};
  subgraph("account").instead = (_request, response) => {
    accounts.waiting++;
    response.once("close", () => accounts.ended++);
    finish = () => void response.end(JSON.stringify({ data: { updateAccount: { account: { id: "acc_1" } } } }));
  };
  const mutation = begin(change);
  await eventually(() => accounts.waiting === 1);
  mutation.leave();
  assert.equal(await mutation.answer, null);
  assert.equal((await gateway.query(null, "{ serverSettings { locale } }")).status, 200);
  assert.equal(accounts.ended, 0, "the change is still waited for");
  finish();
  await eventually(() => accounts.ended === 1);
});

test("an operation ends at its deadline with what it has, ending its fetches", async () => {
  const pictures = hang("images");
  const answer = await gateway.query(person, `${images()}`);
  assert.deepEqual(answer.body.data, { viewer: { id: person.accountId, images: null } });
  assert.deepEqual(answer.body.errors[0].extensions.code, "UNAVAILABLE");
  await eventually(() => pictures.ended === 1);
});

test("a subgraph that hangs holds 64 fetches at most while the others answer", async (t) => {
  // All of them wait for as long as the test takes: one that met its deadline would make room for another.
  const patient = await startGateway({ "graphql.subgraph-deadline": 60_000, "graphql.deadline": 60_000 });
  t.after(() => patient.close());
  const pictures = hang("images", patient);
  const waiting = Array.from({ length: 100 }, (_, n) => begin(images(n), patient));
  await eventually(() => pictures.waiting === 64);
  for (let count = 0; count < 20; count++) {
    const { body } = await patient.query(null, "{ serverSettings { locale } }");
    assert.deepEqual(body, { data: { serverSettings: { locale: "en" } } });
  }
  assert.deepEqual(pictures, { waiting: 64, ended: 0 });
  for (const one of waiting) one.leave();
  await eventually(() => pictures.ended === 64);
  await Promise.all(waiting.map(({ answer }) => answer));
});

// Last: the breaker stays open for a while.
test("after twenty fetches that failed nothing is sent to a subgraph, until one of them gets through again", async () => {
  const away: RequestListener = (_request, response) => void response.writeHead(502).end();
  subgraph("images").instead = away;
  const isOpen = async () => /breaker_open{[^}]*"images"[^}]*} 1/.test(await gateway.context.metrics.text());
  await eventually(async () => {
    await Promise.all(Array.from({ length: 10 }, () => gateway.query(person, images())));
    return isOpen();
  });
  const { heard } = subgraph("images");
  const before = heard.length;
  const { body } = await gateway.query(person, images());
  assert.deepEqual([body.errors[0].extensions.code, body.data.viewer.id], ["UNAVAILABLE", person.accountId]);
  assert.equal(heard.length, before);
  subgraph("images").instead = null;
  await eventually(async () => (await gateway.query(person, images())).body.errors === undefined);
  assert.equal(await isOpen(), false);
});
