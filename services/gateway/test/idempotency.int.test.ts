import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { operationKeyHeader } from "@signalbox/http";
import { testPerson } from "@signalbox/testing";
import { type Harness, startGateway } from "./harness.ts";
import type { SubgraphName } from "./subgraphs.ts";

let gateway: Harness;
const person = testPerson();
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());
afterEach(() => {
  for (const subgraph of gateway.subgraphs.values()) subgraph.instead = null;
});

const subgraph = (name: SubgraphName) => gateway.subgraphs.get(name) ?? assert.fail();
const rename = (name: string) => `mutation { updateAccount(input: { displayName: "${name}" }) { account { id } } }`;
const key = { "idempotency-key": "once-and-no-more" };

/** Reads the idempotency key that the account subgraph got, split: place, fingerprint, key. */
async function toldOf(query: string, headers: Record<string, string> = key, who: typeof person | null = person) {
  const answer = await gateway.query(who, query, { headers });
  const told = subgraph("account").heard.at(-1)?.[operationKeyHeader];
  return { answer, told: told === undefined ? null : String(told).split(" ") };
}

test("a subgraph gets the key and the fingerprint of a mutation, so that it can replay its answer", async () => {
  const { told, answer } = await toldOf(rename("Eve"));
  assert.deepEqual([told?.[0], told?.[2]], ["first", "once-and-no-more"]);
  assert.equal(answer.headers.get("idempotent-replayed"), null);
  assert.deepEqual((await toldOf(rename("Eve"))).told, told);
  assert.notEqual((await toldOf(rename("Ada"))).told?.[1], told?.[1]);

  subgraph("account").instead = (_request, response) => {
    const data = { updateAccount: { account: { id: "acc_1" } } };
    response.end(JSON.stringify({ data, extensions: { idempotentReplayed: true } }));
  };
  const replayed = await gateway.query(person, rename("Eve"), { headers: key });
  assert.equal(replayed.headers.get("idempotent-replayed"), "true");
  assert.deepEqual(replayed.body, { data: { updateAccount: { account: { id: "acc_1" } } } });
});

test("a second fetch of one operation from the same subgraph is told apart from the first", async () => {
  const image = 'deleteImage(id: "img_1") { deletedImageId }';
  const account = (alias: string) => `${alias}: updateAccount(input: { displayName: "Eve" }) { account { id } }`;
  const { heard } = subgraph("account");
  const before = heard.length;
  subgraph("images").instead = (_request, response) =>
    void response.end(JSON.stringify({ data: { deleteImage: { deletedImageId: "img_1" } } }));
  await gateway.query(person, `mutation { ${account("a")} ${image} ${account("b")} }`, { headers: key });
  const places = heard.slice(before).map((headers) => String(headers[operationKeyHeader]).split(" ")[0]);
  assert.deepEqual(places, ["first", "later"]);
});

test("queries or anonymous callers have no use for a key; one of another form is refused", async () => {
  assert.equal((await toldOf("{ viewer { id } }")).told, null);
  assert.equal((await toldOf(rename("Eve"), key, null)).told, null);
  const { answer } = await toldOf(rename("Eve"), { "idempotency-key": "with a blank" });
  assert.deepEqual([answer.status, answer.body.errors[0].extensions.code], [400, "VALIDATION_FAILED"]);
});
