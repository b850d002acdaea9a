import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testPerson } from "@signalbox/testing";
import { presets } from "@signalbox/webhook-signatures";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

type Person = ReturnType<typeof testPerson>;
const secret = "a secret of at least sixteen bytes";
const create = async (who: Person, body: object) =>
  (await ingest.send(who, "POST", sourcesPath, { body: { name: "Shop", secret, ...body } })).body;
const read = async (who: Person, { id }: { id: string }) =>
  (await ingest.send(who, "GET", `${sourcesPath}/${id}`)).body;

/** Makes a source one of an earlier version of its preset, which checked the time of Mailgun. */
async function madeEarlier({ id }: { id: string }): Promise<void> {
  const former = { timestampFrom: { pointer: "/signature/timestamp" }, deliveryIdFrom: { pointer: "/signature/old" } };
  const text = `update sources set preset_version = '2025-01-01', settings = settings || $2::jsonb,
                  preset_settings = preset_settings || $2::jsonb where id = $1`;
  await ingest.pool.query({ name: "", text }, [id, JSON.stringify(former)]);
}

test("a source shows its preset and the date of the documentation that it follows", async () => {
  const who = testPerson();
  const followed = await create(who, { preset: "mailgun" });
  assert.deepEqual([followed.preset, followed.preset_version], ["mailgun", presets.mailgun.documentedOn]);
  const { body: preset } = await ingest.send(who, "GET", "/api/v1/webhooks/presets/mailgun");
  assert.equal(preset.documented_on, followed.preset_version);
  const own = await create(who, { scheme: "hmac" });
  assert.deepEqual([own.preset, own.preset_version], [null, null]);
});

test("each setting says whether it is the preset's or was changed by hand", async () => {
  const who = testPerson();
  const source = await create(who, { preset: "mailgun", settings: { answer: { status: 204 } } });
  const origins = ({ effective_settings: settings }: typeof source) =>
    ["answer", "signature_from", "rate", "tolerance_seconds"].map((name) => settings[name].from);
  assert.deepEqual(origins(source), ["source", "preset", "default", "property"]);
  const path = `${sourcesPath}/${source.id}`;
  await ingest.send(who, "PATCH", path, { body: { settings: { answer: { status: 200 } } } });
  assert.equal((await read(who, source)).effective_settings.answer.from, "preset");
});

test("a later correction of its preset reaches a source", async () => {
  const who = testPerson();
  const source = await create(who, { preset: "mailgun" });
  await madeEarlier(source);
  const corrected = await read(who, source);
  assert.deepEqual(corrected.settings, source.settings);
  assert.equal(corrected.preset_version, presets.mailgun.documentedOn);
});

test("a setting that was changed by hand stays when its preset is corrected", async () => {
  const who = testPerson();
  const source = await create(who, { preset: "mailgun" });
  await madeEarlier(source);
  const own = { pointer: "/signature/own" };
  const text = "update sources set settings = settings || $2::jsonb where id = $1";
  await ingest.pool.query({ name: "", text }, [source.id, JSON.stringify({ deliveryIdFrom: own, rate: 7 })]);
  await ingest.send(who, "PATCH", `${sourcesPath}/${source.id}`, { body: { name: "Mails" } });
  const { settings, effective_settings: effective } = await read(who, source);
  assert.deepEqual([settings.delivery_id_from, settings.rate, settings.timestamp_from], [own, 7, undefined]);
  assert.deepEqual([effective.delivery_id_from.from, effective.rate.from], ["source", "source"]);
});

test("the password in a public_url is masked in every view", async () => {
  const who = testPerson();
  const url = "https://partner:a-word-to-find@hub.example/twilio";
  const source = await create(who, { preset: "twilio", settings: { public_url: url } });
  const path = `${sourcesPath}/${source.id}`;
  const shown = "https://******@hub.example/twilio";
  assert.equal(source.settings.public_url, shown);
  const changed = await ingest.send(who, "PATCH", path, { body: { settings: { public_url: shown, rate: 3 } } });
  assert.equal(changed.body.effective_settings.public_url.value, shown);
  const text = "select settings ->> 'publicUrl' as url from sources where id = $1";
  const { rows } = await ingest.pool.query<{ url: string }>({ name: "", text }, [source.id]);
  assert.deepEqual(rows, [{ url }], "the URL as shown changes nothing");
  const selection = `... on Account { webhookSources(first: 5) { edges { node { settings effectiveSettings } } } }`;
  const graph = await ingest.graphql(who, `query($of: [_Any!]!) { _entities(representations: $of) { ${selection} } }`, {
    of: [{ __typename: "Account", id: who.accountId }],
  });
  const events = await ingest.eventsOf(who.accountId, 1, "webhook_source.updated");
  const views = [
    source,
    changed.body,
    await read(who, source),
    graph,
    events,
    (await ingest.send(who, "GET", sourcesPath)).body,
  ];
  assert.ok(!JSON.stringify(views).includes("a-word-to-find"));
  assert.ok(JSON.stringify(graph).includes(shown));
});
