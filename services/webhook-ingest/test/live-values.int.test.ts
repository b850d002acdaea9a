import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

type Person = ReturnType<typeof testPerson>;
interface LiveValue {
  id: string;
  created_at: string;
  ends_at: string | null;
  ingest_path?: string;
}
const texts = ["the first secret of all", "the second one of them", "the third one of them"] as const;
const newSource = (who: Person) => ingest.newSource(who, { scheme: "hmac", secret: texts[0] });
const pathOf = ({ id }: { id: string }) => `${sourcesPath}/${id}`;
const show = async (who: Person, source: { id: string }) => (await ingest.send(who, "GET", pathOf(source))).body;

async function rotateSecret(who: Person, source: { id: string }, secret: string, overlap_seconds = 1_000) {
  const answer = await ingest.send(who, "POST", `${pathOf(source)}/secret/rotate`, {
    body: { secret, overlap_seconds },
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}
async function rotateUrl(who: Person, source: { id: string }, overlap_seconds = 1_000) {
  const answer = await ingest.send(who, "POST", `${pathOf(source)}/rotate-url`, { body: { overlap_seconds } });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}
const endSecrets = (who: Person, source: { id: string }) =>
  ingest.send(who, "DELETE", `${pathOf(source)}/secret/previous`);
const endAddresses = (who: Person, source: { id: string }) =>
  ingest.send(who, "DELETE", `${pathOf(source)}/addresses/previous`);

/** Posts a new webhook, signed with a secret, and returns the status of the answer. */
async function statusOf(ingest_path: string, secret: string = texts[0]) {
  const time = String(Math.floor(Date.now() / 1000));
  const body = JSON.stringify({ id: crypto.randomUUID() });
  const digest = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
  const headers = { "content-type": "application/json", "x-timestamp": time, "x-signature": `sha256=${digest}` };
  return (await ingest.post({ ingest_path }, { headers, body })).status;
}
const idsOf = (values: LiveValue[]) => values.map(({ id }) => id);

test("the live secrets are shown newest first, each with its end, and ended ones are not", async () => {
  const who = testPerson();
  const source = await newSource(who);
  const first = await show(who, source);
  const second = await rotateSecret(who, source, texts[1], 2_000);
  const third = await rotateSecret(who, source, texts[2], 3_000);
  assert.deepEqual(idsOf(third.secrets).slice(1), idsOf(second.secrets), "a value keeps its id");
  assert.deepEqual(idsOf(second.secrets).slice(1), idsOf(first.secrets));
  const [newest, former, oldest] = third.secrets as LiveValue[];
  assert.deepEqual([newest?.created_at, newest?.ends_at], [third.updated_at, null]);
  assert.deepEqual([former?.ends_at, oldest?.ends_at], third.overlaps_end_at);
  assert.deepEqual([former?.created_at, oldest?.created_at], [second.updated_at, first.created_at]);
  assert.deepEqual((await show(who, source)).secrets, third.secrets);
  const text = `update sources set revision = revision + 1, former_secrets_end_at[2] = now() - interval '1 second'
    where id = $1`;
  await ingest.pool.query({ name: "", text }, [source.id]);
  assert.deepEqual((await show(who, source)).secrets, [newest, former]);
  const renamed = await ingest.send(who, "PATCH", pathOf(source), { body: { verify_token: "a-token-of-the-shop" } });
  assert.deepEqual(renamed.body.secrets, [newest, former], "a change of something else leaves them");
});

test("a secret that is set replaces all live ones", async () => {
  const who = testPerson();
  const source = await newSource(who);
  const before = await rotateSecret(who, source, texts[1]);
  const { body } = await ingest.send(who, "PATCH", pathOf(source), { body: { secret: texts[2] } });
  assert.deepEqual([body.secrets.length, body.secrets[0].created_at], [1, body.updated_at]);
  assert.ok(!idsOf(before.secrets).includes(body.secrets[0].id));
});

test("the live addresses are shown newest first, each with its path and end", async () => {
  const who = testPerson();
  const source = await newSource(who);
  const first = await show(who, source);
  const second = await rotateUrl(who, source, 2_000);
  const third = await rotateUrl(who, source, 3_000);
  assert.deepEqual(idsOf(third.addresses).slice(1), idsOf(second.addresses), "a value keeps its id");
  assert.deepEqual(idsOf(second.addresses).slice(1), idsOf(first.addresses));
  const [newest, ...older] = third.addresses as LiveValue[];
  assert.deepEqual([newest?.ingest_path, newest?.ends_at], [third.ingest_path, null]);
  assert.deepEqual(
    older.map(({ ingest_path, ends_at }) => ({ ingest_path, ends_at })),
    third.former_ingest_paths,
  );
  assert.deepEqual(
    older.map(({ ingest_path }) => ingest_path),
    [second.ingest_path, source.ingest_path],
  );
  assert.deepEqual((await show(who, source)).addresses, third.addresses);
});

test("the older secrets end at once, and twice is fine", async () => {
  const who = testPerson();
  const source = await newSource(who);
  await rotateSecret(who, source, texts[1]);
  const { secrets } = await rotateSecret(who, source, texts[2]);
  for (const text of texts) assert.equal(await statusOf(source.ingest_path, text), 202);
  assert.equal((await endSecrets(who, source)).status, 204);
  const statuses = [];
  for (const text of texts) statuses.push(await statusOf(source.ingest_path, text));
  assert.deepEqual(statuses, [401, 401, 202]);
  const shown = await show(who, source);
  assert.deepEqual([shown.secrets, shown.overlaps_end_at], [secrets.slice(0, 1), []]);
  assert.equal((await endSecrets(who, source)).status, 204);
  assert.deepEqual(await show(who, source), shown, "the second time changes nothing");
  await ingest.send(who, "PATCH", pathOf(source), { body: { name: "Store" } });
  const events = await ingest.eventsOf(who.accountId, 4, "webhook_source.updated");
  const changes = events.map(({ data }) => (data as { changed: string[] }).changed);
  assert.deepEqual(changes, [["secret"], ["secret"], ["secret"], ["name"]]);
});

test("the older addresses end at once, and twice is fine", async () => {
  const who = testPerson();
  const source = await newSource(who);
  const second = await rotateUrl(who, source);
  const third = await rotateUrl(who, source);
  const paths = [source.ingest_path, second.ingest_path, third.ingest_path];
  for (const path of paths) assert.equal(await statusOf(path), 202);
  assert.equal((await endAddresses(who, source)).status, 204);
  const statuses = [];
  for (const path of paths) statuses.push(await statusOf(path));
  assert.deepEqual(statuses, [404, 404, 202]);
  const shown = await show(who, source);
  assert.deepEqual([shown.addresses, shown.former_ingest_paths], [third.addresses.slice(0, 1), []]);
  assert.equal((await endAddresses(who, source)).status, 204);
  assert.deepEqual(await show(who, source), shown, "the second time changes nothing");
  assert.equal((await rotateUrl(who, source)).addresses.length, 2, "there is room again");
});

test("GraphQL shows the live values and ends the older ones", async () => {
  const who = testPerson();
  const { id, ...source } = await newSource(who);
  await rotateSecret(who, { id }, texts[1]);
  const { ingest_path } = await rotateUrl(who, { id });
  const end = async (name: string, from = who) => {
    const text = `mutation($id: ID!) { it: ${name}(id: $id) { webhookSourceId errors { code } } }`;
    return ingest.graphql(from, text, { id });
  };
  const query = `query($of: [_Any!]!) { _entities(representations: $of) { ... on WebhookSource {
    secrets { id createdAt endsAt } addresses { id createdAt endsAt ingestPath } } } }`;
  const shown = async () => {
    const { data } = await ingest.graphql(who, query, { of: [{ __typename: "WebhookSource", id }] });
    return data._entities[0];
  };
  const { secrets, addresses } = await show(who, { id });
  const inGraph = ({ id: valueId, created_at: createdAt, ends_at: endsAt, ...path }: LiveValue) => ({
    id: valueId,
    createdAt,
    endsAt,
    ...(path.ingest_path === undefined ? {} : { ingestPath: path.ingest_path }),
  });
  assert.deepEqual(await shown(), { secrets: secrets.map(inGraph), addresses: addresses.map(inGraph) });
  const stale = testPerson({ accountId: who.accountId, authTimeMs: Date.now() - 16 * 60_000 });
  const refused = await end("deletePreviousWebhookSourceSecrets", stale);
  assert.equal(refused.errors?.[0]?.extensions.code, "FORBIDDEN");
  for (const name of ["deletePreviousWebhookSourceSecrets", "deletePreviousWebhookSourceAddresses"]) {
    for (const _ of ["once", "twice"]) {
      assert.deepEqual((await end(name)).data.it, { webhookSourceId: id, errors: [] });
    }
    assert.equal((await end(name, testPerson())).errors?.[0]?.extensions.code, "NOT_FOUND");
  }
  assert.deepEqual(await shown(), {
    secrets: secrets.slice(0, 1).map(inGraph),
    addresses: addresses.slice(0, 1).map(inGraph),
  });
  assert.deepEqual([await statusOf(source.ingest_path, texts[1]), await statusOf(ingest_path, texts[0])], [404, 401]);
});

test("the older secrets need a step-up, and a source of another account is missing", async () => {
  const who = testPerson();
  const source = await newSource(who);
  await rotateSecret(who, source, texts[1]);
  await rotateUrl(who, source);
  const stale = testPerson({ accountId: who.accountId, authTimeMs: Date.now() - 16 * 60_000 });
  const reader = testPerson({ accountId: who.accountId, scopes: ["webhooks:read"] });
  const statuses = async (from: Person) => [
    (await endSecrets(from, source)).status,
    (await endAddresses(from, source)).status,
  ];
  assert.deepEqual(await statuses(testPerson()), [404, 404]);
  assert.deepEqual(await statuses(reader), [403, 403]);
  assert.equal((await endSecrets(stale, source)).status, 403);
  const { secrets, addresses } = await show(who, source);
  assert.deepEqual([secrets.length, addresses.length], [2, 2]);
});

test("values from before there were ids have stable ones and the time of the source", async () => {
  const who = testPerson();
  const source = await newSource(who);
  await rotateSecret(who, source, texts[1]);
  const { created_at } = await rotateUrl(who, source);
  const text = "update sources set secret_ids = null, address_ids = null, revision = revision + 1 where id = $1";
  await ingest.pool.query({ name: "", text }, [source.id]);
  const before = await show(who, source);
  const all: LiveValue[] = [...before.secrets, ...before.addresses];
  assert.deepEqual([all.length, new Set(idsOf(all)).size], [4, 4]);
  assert.ok(all.every((value) => value.created_at === created_at));
  assert.deepEqual(await show(who, source), before);
  await rotateSecret(who, source, texts[2]);
  const { secrets, addresses } = await rotateUrl(who, source);
  assert.deepEqual(idsOf(secrets).slice(1), idsOf(before.secrets));
  assert.deepEqual(idsOf(addresses).slice(1), idsOf(before.addresses));
});
