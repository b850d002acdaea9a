import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Pool, sql } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import type { Harness } from "./harness.ts";
import {
  bearer,
  type CreatedClient,
  clientToken,
  databaseOf,
  headerOf,
  makeClient,
  startIssuer,
  startSecond,
  tablesWith,
} from "./oauth-fixture.ts";

let account: Harness;
let pool: Pool;
let client: CreatedClient;
before(async () => {
  account = await startIssuer();
  pool = databaseOf(account);
  client = await makeClient(account, { "x-api-key": await account.firstKey() });
});
after(() => account.close());

const readWith = async (token: string, instance: Harness) =>
  (await instance.send("GET", "/api/account/", { headers: bearer(token) })).status;

async function keySet(instance: Harness): Promise<Record<string, string>[]> {
  const answer = await fetch(`${instance.url}/oauth/jwks`);
  return ((await answer.json()) as { keys: Record<string, string>[] }).keys;
}

/** The keys of access tokens; those of ID tokens are made, kept and rotated by the same rules. */
const published = async (instance: Harness) =>
  (await keySet(instance)).filter(({ alg }) => alg === "ES256").map(({ kid }) => kid);

test("several instances that start at once on an empty database make one key for each algorithm", async () => {
  const empty = await startIssuer();
  const others = await Promise.all([1, 2, 3].map(() => startSecond(empty)));
  const sets = await Promise.all([empty, ...others].map(keySet));
  assert.equal(sets[0]?.length, 2, "one for each algorithm");
  for (const set of sets) assert.deepEqual(set, sets[0]);
  await Promise.all(others.map((each) => each.close()));
  await empty.close();
});

test("keys rotate while tokens live: published first, then signing, the old one until its tokens have ended, everywhere", async () => {
  const second = await startSecond(account);
  const [old = ""] = await published(account);
  const { access_token: before } = await clientToken(account, client);
  const { access_token: unseen } = await clientToken(account, client);
  assert.equal(headerOf(before).kid, old);

  // Moves the keys thirty days into the past.
  await pool.query(
    sql("", "update oauth_signing_keys set active_from = active_from - interval '31 days' where algorithm = 'ES256'"),
  );
  const both = await eventually(async () => {
    const found = await published(second);
    return found.length === 2 && found;
  });
  const fresh = both.find((kid) => kid !== old);
  assert.deepEqual(both, [old, fresh]);
  await eventually(async () => (await published(account)).length === 2);
  assert.equal(headerOf((await clientToken(second, client)).access_token).kid, old, "it does not sign yet");

  // Moves the keys an hour into the past.
  await pool.query(sql("", "update oauth_signing_keys set active_from = now() where kid = $1"), [fresh]);
  await pool.query(sql("", "update oauth_signing_keys set retired_at = now() where kid = $1"), [old]);
  const signing = async (instance: Harness) => headerOf((await clientToken(instance, client)).access_token).kid;
  for (const instance of [account, second]) {
    await eventually(async () => (await signing(instance)) === fresh);
  }
  const { access_token: after } = await clientToken(second, client);
  for (const instance of [account, second]) {
    assert.deepEqual([await readWith(before, instance), await readWith(after, instance)], [200, 200]);
  }

  // Lets the last token of the old key expire.
  await pool.query(sql("", "update oauth_signing_keys set retired_at = now() - interval '2 hours' where kid = $1"), [
    old,
  ]);
  for (const instance of [account, second]) {
    await eventually(async () => (await published(instance)).length === 1);
  }
  assert.equal(await readWith(unseen, second), 401);
  assert.equal(await readWith(after, account), 200);
  await second.close();
});

test("no private key is in the database in clear, nor in what is published", async () => {
  const keys = await keySet(account);
  const members = {
    EC: ["alg", "crv", "kid", "kty", "use", "x", "y"],
    RSA: ["alg", "e", "kid", "kty", "n", "use"],
  };
  for (const key of keys) assert.deepEqual(Object.keys(key).sort(), members[key.kty as keyof typeof members]);
  assert.deepEqual(await tablesWith(account, '"d":'), []);
  assert.deepEqual(await tablesWith(account, String(keys[0]?.x)), ["oauth_signing_keys"]);
});

test("after a restart with another sealing key before it the old one can be given up", async () => {
  const first = await startIssuer();
  const [kid] = await published(first);
  const old = `test:${Buffer.alloc(32, 7).toString("base64")}`;
  const next = `next:${Buffer.alloc(32, 8).toString("base64")}`;
  const both = await startSecond(first, { "secrets.keys": `${next},${old}` });
  await eventually(async () => assert.deepEqual(await tablesWith(first, "v1.test."), []));
  const alone = await startSecond(first, { "secrets.keys": next });
  assert.deepEqual(await published(alone), [kid]);
  for (const instance of [alone, both, first]) await instance.close();
});

test("what is published may be kept for minutes and is asked for again by its ETag, and tokens for no time at all", async () => {
  for (const path of ["/oauth/jwks", "/oauth/.well-known/openid-configuration"]) {
    const first = await account.send("GET", path);
    assert.equal(first.headers.get("cache-control"), "public, max-age=300");
    const again = await account.send("GET", path, { headers: { "if-none-match": first.headers.get("etag") ?? "" } });
    assert.deepEqual([again.status, again.body], [304, null]);
    assert.equal(again.headers.get("cache-control"), "public, max-age=300");
    assert.equal((await account.send("GET", path, { headers: { "if-none-match": '"other"' } })).status, 200);
  }
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: client.id,
    client_secret: client.secret,
  });
  const answer = await fetch(`${account.url}/oauth/token`, { method: "POST", body });
  assert.equal(answer.headers.get("cache-control"), "no-store");
});
