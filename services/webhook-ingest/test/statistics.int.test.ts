import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { draft, eventOf } from "@signalbox/contracts";
import { sql } from "@signalbox/storage";
import { eventually, type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { secrets, sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

type Source = Awaited<ReturnType<Harness["newSource"]>>;

const github = { scheme: "github", secret: secrets.github };
const of = ({ id }: Source) => `${sourcesPath}/${id}/statistics`;
const ofAll = `${sourcesPath}/statistics`;
const rowsOf = async (id: string) =>
  (await ingest.pool.query(sql("", "select 1 from signalbox.statistics where subject_id = $1"), [id])).rows.length;

async function read(who: TestPerson, path: string, query = "group_by=type,reason") {
  const { status, body, text } = await ingest.send(who, "GET", `${path}?${query}`);
  assert.equal(status, 200, text);
  const counts = body.totals.map((one: Record<string, unknown>) => [
    one.type,
    one.reason,
    one.accepted,
    one.duplicates,
    one.rejected,
  ]);
  return counts.toSorted() as unknown[][];
}

async function post(source: Source, webhook: Parameters<Harness["post"]>[1], status = 202): Promise<void> {
  assert.equal((await ingest.post(source, webhook)).status, status);
}

test("accepted webhooks count at once and exactly, repetitions and refusals within seconds", async () => {
  const who = testPerson();
  const [source, other] = [await ingest.newSource(who, github), await ingest.newSource(who, github)];
  const [first, second] = [sign("github", { type: "push" }), sign("github", { type: "issues" })];
  const many = Array.from({ length: 20 }, () => sign("github", { type: "push" }));
  await Promise.all([first, second, ...many].map((webhook) => post(source, webhook)));
  assert.deepEqual(await read(who, of(source)), [
    ["issues", null, 1, 0, 0],
    ["push", null, 21, 0, 0],
  ]);
  await post(source, first);
  // The same content under another id of the partner, which no signature covers.
  await post(source, { ...second, headers: { ...second.headers, "x-github-delivery": "another" } });
  await post(
    source,
    { ...first, headers: { ...first.headers, "x-hub-signature-256": `sha256=${"0".repeat(64)}` } },
    401,
  );
  await post(other, sign("github", { type: "push" }));
  const expected = [
    ["issues", null, 1, 1, 0],
    ["push", null, 21, 1, 0],
    [null, "signature_mismatch", 0, 0, 1],
  ].toSorted();
  await eventually(async () => assert.deepEqual(await read(who, of(source)), expected));
  assert.deepEqual(await read(who, ofAll, ""), [[null, null, 23, 2, 1]]);
  assert.deepEqual(await read(who, of(source), "type=iss*&bucket=1d"), [[null, null, 1, 1, 0]]);
  await eventually(async () => (await rowsOf(source.id)) > 0);
  assert.deepEqual(await read(who, of(source)), expected, "folded");
});

test("a refusal at a former address counts for its source, one at an unknown address for nobody", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, github);
  const rotated = await ingest.send(who, "POST", `${sourcesPath}/${source.id}/rotate-url`, { body: {} });
  assert.equal(rotated.status, 200, rotated.text);
  const forged = { ...sign("github"), body: "{}" };
  await post({ ...source, ingest_path: source.ingest_path }, forged, 401);
  await post({ ...source, ingest_path: rotated.body.ingest_path }, forged, 401);
  await post({ ...source, ingest_path: "/ingest/src_unknown" }, forged, 404);
  await eventually(async () => assert.deepEqual(await read(who, ofAll), [[null, "signature_mismatch", 0, 0, 2]]));
});

test("a deleted source leaves its part to the account, and a deleted account nothing", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, github);
  await post(source, sign("github", { type: "push" }));
  await eventually(async () => (await rowsOf(source.id)) > 0);
  assert.equal((await ingest.send(testPerson(), "GET", of(source))).status, 404);
  assert.equal((await ingest.send(who, "DELETE", `${sourcesPath}/${source.id}`)).status, 204);
  assert.equal((await ingest.send(who, "GET", of(source))).status, 404);
  await eventually(async () => (await rowsOf(source.id)) === 0);
  assert.deepEqual(await read(who, ofAll), [["push", null, 1, 0, 0]]);
  const data = { ...eventOf("account.deleted").example, id: who.accountId };
  await ingest.publish(draft("account.deleted", { subject: who.accountId, accountId: who.accountId, data }));
  await eventually(async () => (await rowsOf(who.accountId)) === 0);
});

test("the graph has the figures of a source and of the account", async () => {
  const who = testPerson();
  await post(await ingest.newSource(who, github), sign("github", { type: "push" }));
  const query = `query($of: [_Any!]!) { _entities(representations: $of) { ... on Account {
    webhookSourceStatistics(groupBy: "type") { totals { type reason accepted } items { start duplicates } }
    webhookSources { edges { node { statistics(type: "push") { totals { accepted rejected } } } } } } } }`;
  const { data, errors } = await ingest.graphql(who, query, { of: [{ __typename: "Account", id: who.accountId }] });
  assert.equal(errors, undefined, JSON.stringify(errors));
  const [{ webhookSourceStatistics: all, webhookSources: sources }] = data._entities;
  assert.deepEqual(all.totals, [{ type: "push", reason: null, accepted: 1 }]);
  assert.equal(all.items[0].duplicates, 0);
  assert.deepEqual(sources.edges[0].node.statistics.totals, [{ accepted: 1, rejected: 0 }]);
});

test("a label that sources do not have is refused by its name", async () => {
  const { status, body } = await ingest.send(testPerson(), "GET", `${ofAll}?group_by=error`);
  assert.equal(status, 400);
  assert.match(body.error.details[0].message, /type, reason, with commas between them; not error/);
});
