import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { secrets, sign, type Webhook } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

type Person = ReturnType<typeof testPerson>;
type Source = { id: string; ingest_path: string };
const pathOf = ({ id }: { id: string }) => `${sourcesPath}/${id}`;

/** Posts a webhook that is refused, and returns its rejection, which is the newest of its source. */
async function rejectionOf(who: Person, source: Source, webhook: Webhook, status = 401) {
  const list = async () => (await ingest.send(who, "GET", `${pathOf(source)}/rejections`)).body.items;
  const [before] = await list();
  assert.equal((await ingest.post(source, webhook)).status, status);
  return eventually(async () => {
    const [newest] = await list();
    return newest?.id === before?.id ? null : newest;
  });
}

test("a webhook that is too old shows the signed time, its age and the tolerance that it broke", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "hmac", secret: secrets.hmac });
  const webhook = sign("hmac", { ageSeconds: 600 });
  const rejection = await rejectionOf(who, source, webhook);
  const signedMs = Number(webhook.headers["x-timestamp"]) * 1_000;
  assert.equal(rejection.reason, "timestamp_too_old");
  assert.equal(rejection.signed_at, new Date(signedMs).toISOString());
  assert.ok(rejection.age_seconds >= 600 && rejection.age_seconds < 700, `${rejection.age_seconds}`);
  assert.equal(rejection.tolerance_seconds, 300);
  assert.deepEqual([rejection.expected, rejection.found], ["hmac", "hmac"]);
  assert.deepEqual(rejection.headers_seen, ["x-signature", "x-timestamp"]);
  assert.deepEqual(rejection.headers_missing, []);
  assert.equal(rejection.verify_url, `http://127.0.0.1:8080${pathOf(source)}/verify`);
  const strict = await ingest.newSource(who, {
    scheme: "hmac",
    secret: secrets.hmac,
    settings: { tolerance_seconds: 60 },
  });
  assert.equal((await rejectionOf(who, strict, sign("hmac", { ageSeconds: 120 }))).tolerance_seconds, 60);
});

test("a time from the future has a negative age, and one in the signed body is shown too", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "standard-webhooks", secret: secrets["standard-webhooks"] });
  const ahead = await rejectionOf(who, source, sign("standard-webhooks", { ageSeconds: -900 }));
  assert.equal(ahead.reason, "timestamp_in_future");
  assert.ok(ahead.age_seconds <= -890 && ahead.age_seconds > -1_000, `${ahead.age_seconds}`);
  assert.deepEqual(ahead.headers_seen, ["webhook-id", "webhook-signature", "webhook-timestamp"]);
  const inBody = await ingest.newSource(who, {
    scheme: "hmac",
    secret: secrets.github,
    settings: {
      signature_header: "x-hub-signature-256",
      signed_content: "{body}",
      timestamp_from: { pointer: "/at" },
    },
  });
  const at = Math.floor(Date.now() / 1_000) - 400;
  const old = await rejectionOf(who, inBody, sign("github", { body: JSON.stringify({ id: "d-1", at }) }));
  assert.deepEqual([old.reason, old.signed_at], ["timestamp_too_old", new Date(at * 1_000).toISOString()]);
});

test("headers that another scheme sends are named, and those that the source's scheme misses", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "hmac", secret: secrets.hmac });
  const github = await rejectionOf(who, source, sign("github"));
  assert.equal(github.reason, "timestamp_missing");
  assert.deepEqual([github.expected, github.found], ["hmac", "github"]);
  assert.deepEqual([github.headers_seen, github.headers_missing], [[], ["x-timestamp"]]);
  assert.deepEqual([github.signed_at, github.age_seconds], [null, null]);
  const { "x-signature": _, ...unsigned } = sign("hmac").headers;
  const bare = await rejectionOf(who, source, { headers: unsigned, body: "{}" });
  assert.equal(bare.reason, "signature_missing");
  assert.deepEqual([bare.found, bare.headers_seen, bare.headers_missing], [null, ["x-timestamp"], ["x-signature"]]);
});

test("a forged webhook shows neither the secret nor a signature, the expected one included", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "hmac", secret: secrets.hmac });
  const right = sign("hmac", { body: '{"id":"d-1"}' });
  const forged = await rejectionOf(who, source, { ...right, body: '{"id":"d-2"}' });
  assert.equal(forged.reason, "signature_mismatch");
  assert.equal(forged.signed_at, new Date(Number(right.headers["x-timestamp"]) * 1_000).toISOString());
  const expected = sign("hmac", { body: '{"id":"d-2"}' }).headers["x-signature"]?.slice("sha256=".length) ?? "";
  const text = "select r::text as row from rejections r where id = $1";
  const { rows } = await ingest.pool.query({ name: "", text }, [forged.id]);
  const read = (await ingest.send(who, "GET", `${pathOf(source)}/rejections/${forged.id}`)).text;
  for (const shown of [JSON.stringify(rows), read, JSON.stringify(ingest.context.logged)]) {
    for (const secret of [secrets.hmac, expected, right.headers["x-signature"]?.slice("sha256=".length) ?? ""]) {
      assert.ok(secret.length > 10 && !shown.includes(secret));
    }
  }
});

test("the graph shows the same figures, and a webhook that was never read has none", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "hmac", secret: secrets.hmac });
  const shown = await rejectionOf(who, source, sign("hmac", { ageSeconds: 600 }));
  const fields = "signedAt ageSeconds toleranceSeconds expected found headersSeen headersMissing verifyUrl";
  const query = `query($of: [_Any!]!) { _entities(representations: $of) {
    ... on WebhookSource { rejections { edges { node { ${fields} } } } } } }`;
  const ask = async () => {
    const { data } = await ingest.graphql(who, query, { of: [{ __typename: "WebhookSource", id: source.id }] });
    return data._entities[0].rejections.edges[0].node;
  };
  assert.deepEqual(await ask(), {
    signedAt: shown.signed_at,
    ageSeconds: shown.age_seconds,
    toleranceSeconds: 300,
    expected: "hmac",
    found: "hmac",
    headersSeen: shown.headers_seen,
    headersMissing: [],
    verifyUrl: shown.verify_url,
  });
  const large = await rejectionOf(who, source, { ...sign("hmac"), body: Buffer.alloc(1_100_000, 32) }, 413);
  assert.equal(large.reason, "body_too_large");
  const { toleranceSeconds, expected, headersSeen } = await ask();
  assert.deepEqual([toleranceSeconds, expected, headersSeen], [null, null, []]);
});

test("rejections are found by reason and time, over REST and in the graph", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "hmac", secret: secrets.hmac });
  const old = await rejectionOf(who, source, sign("hmac", { ageSeconds: 600 }));
  const foreign = await rejectionOf(who, source, sign("github"));
  const other = await ingest.newSource(who, { scheme: "hmac", secret: secrets.hmac });
  await rejectionOf(who, other, sign("hmac", { ageSeconds: 600 }));
  const path = `${pathOf(source)}/rejections`;
  const found = async (query: string) => {
    const { status, body, text } = await ingest.send(who, "GET", `${path}?${query}`);
    assert.equal(status, 200, text);
    return body.items.map(({ id }: { id: string }) => id);
  };
  assert.deepEqual(await found("reason=timestamp_too_old"), [old.id], "only those of the source");
  assert.deepEqual(await found("reason=paused"), []);
  assert.deepEqual(await found(`from=${old.rejected_at}`), [foreign.id, old.id]);
  assert.deepEqual(await found(`to=${old.rejected_at}`), []);
  assert.deepEqual(await found(`reason=timestamp_missing&from=${old.rejected_at}`), [foreign.id]);
  const { next_cursor: cursor } = (await ingest.send(who, "GET", `${path}?limit=1`)).body;
  assert.equal((await ingest.send(who, "GET", `${path}?limit=1&cursor=${cursor}`)).body.items[0].id, old.id);
  for (const [query, field] of [
    ["reason=No%20word", "reason"],
    ["from=now", "from"],
    [`reason=paused&cursor=${cursor}`, "cursor"],
  ] as const) {
    const { status, body } = await ingest.send(who, "GET", `${path}?${query}`);
    assert.ok(status === 400 || status === 422);
    assert.deepEqual(
      body.error.details.map((detail: { field: string }) => detail.field),
      [field],
    );
  }
  const query = `query($of: [_Any!]!) { _entities(representations: $of) { ... on WebhookSource {
    rejections(reason: "timestamp_too_old") { edges { node { id } } } } } }`;
  const { data } = await ingest.graphql(who, query, { of: [{ __typename: "WebhookSource", id: source.id }] });
  assert.deepEqual(data._entities[0].rejections.edges, [{ node: { id: old.id } }]);
  const stranger = await ingest.send(testPerson(), "GET", `${path}?reason=timestamp_too_old`);
  assert.equal(stranger.status, 404);
});
