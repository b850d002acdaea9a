import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testPerson } from "@signalbox/testing";
import { type Harness, startIngest } from "./harness.ts";
import { secrets, sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest({ "webhook-ingest.sources.max": 1 });
});
after(() => ingest.close());

type Person = ReturnType<typeof testPerson>;
const shown = "id name scheme status eventTypes settings ingestPath formerIngestPaths { ingestPath } overlapsEndAt";
const payload = `{ webhookSource { ${shown} } errors { field code } }`;
const call = (name: string, type: string, withId = true) =>
  withId
    ? `mutation($id: ID!, $input: ${type}) { it: ${name}(id: $id, input: $input) ${payload} }`
    : `mutation($input: ${type}) { it: ${name}(input: $input) ${payload} }`;
const create = call("createWebhookSource", "CreateWebhookSourceInput!", false);
const update = call("updateWebhookSource", "UpdateWebhookSourceInput!");
const rotateSecret = call("rotateWebhookSourceSecret", "RotateWebhookSourceSecretInput!");
const rotateUrl = call("rotateWebhookSourceUrl", "RotateWebhookSourceUrlInput");
const remove = "mutation($id: ID!) { it: deleteWebhookSource(id: $id) { deletedWebhookSourceId errors { field } } }";
const hmac = { name: "Shop", scheme: "hmac", secret: secrets.hmac };

async function newSource(who: Person, input: object = hmac) {
  const { data, errors } = await ingest.graphql(who, create, { input });
  assert.equal(errors, undefined);
  return data.it.webhookSource;
}
const codeOf = (answer: { errors?: { extensions: { code: string } }[] }) => answer.errors?.[0]?.extensions.code;

test("a source is created, changed, rotated and deleted in GraphQL, with the events of REST", async () => {
  const who = testPerson();
  const source = await newSource(who, { ...hmac, eventTypes: ["order.*"], settings: { timeUnit: "s" } });
  assert.deepEqual([source.eventTypes, source.settings], [["order.*"], { timeUnit: "s" }]);
  const { id } = source;
  const changed = await ingest.graphql(who, update, {
    id,
    input: { name: "Store", eventTypes: null, status: "active" },
  });
  assert.deepEqual([changed.data.it.webhookSource.name, changed.data.it.webhookSource.eventTypes], ["Store", null]);
  const secret = "the next secret of the shop";
  const rotated = await ingest.graphql(who, rotateSecret, { id, input: { secret, overlapSeconds: 60 } });
  assert.equal(rotated.data.it.webhookSource.overlapsEndAt.length, 1);
  const moved = (await ingest.graphql(who, rotateUrl, { id })).data.it.webhookSource;
  assert.deepEqual(moved.formerIngestPaths, [{ ingestPath: source.ingestPath }]);
  assert.equal((await ingest.post({ ingest_path: moved.ingestPath }, sign("hmac"))).status, 202);
  assert.equal((await ingest.graphql(who, remove, { id })).data.it.deletedWebhookSourceId, id);
  const names = (await ingest.eventsOf(who.accountId, 6)).map(({ name }) => name);
  const updated = "webhook_source.updated";
  const written = ["webhook_source.created", updated, updated, updated, "webhook_source.deleted"];
  assert.deepEqual(
    names.filter((name) => name !== "webhook.received"),
    written,
  );
});

test("a preset fills a source in GraphQL too", async () => {
  const { scheme, settings } = await newSource(testPerson(), {
    name: "Meetings",
    preset: "zoom",
    secret: secrets.hmac,
  });
  assert.deepEqual([scheme, settings.handshake, settings.signedContent], ["hmac", "zoom", "v0:{timestamp}:{body}"]);
});

test("problems of a source are in the payload under the input's names", async () => {
  const wrong = { ...hmac, name: "", settings: { signed_content: "{timestamp}" } };
  const { data } = await ingest.graphql(testPerson(), create, { input: wrong });
  const fields = data.it.errors.map(({ field }: { field: string }) => field);
  assert.deepEqual([data.it.webhookSource, fields.sort()], [null, ["name", "settings.signedContent"]]);
  const short = await ingest.graphql(testPerson(), create, { input: { ...hmac, secret: "short" } });
  assert.deepEqual(short.data.it.errors, [{ field: "secret", code: "invalid_secret" }]);
});

test("limits, step-up, scopes and other accounts are enforced as over REST", async () => {
  const who = testPerson();
  const { id } = await newSource(who);
  assert.equal(codeOf(await ingest.graphql(who, create, { input: hmac })), "CONFLICT");
  const { accountId } = who;
  const stale = testPerson({ accountId, authTimeMs: Date.now() - 16 * 60_000 });
  const input = { secret: "the next secret of the shop" };
  assert.equal(codeOf(await ingest.graphql(stale, rotateSecret, { id, input })), "FORBIDDEN");
  assert.equal(codeOf(await ingest.graphql(stale, update, { id, input })), "FORBIDDEN");
  assert.equal((await ingest.graphql(stale, update, { id, input: { name: "Store" } })).errors, undefined);
  const reader = testPerson({ accountId, scopes: ["webhooks:read"] });
  assert.equal(codeOf(await ingest.graphql(reader, rotateUrl, { id })), "FORBIDDEN");
  for (const query of [rotateUrl, remove]) {
    assert.equal(codeOf(await ingest.graphql(testPerson(), query, { id })), "NOT_FOUND");
  }
});
