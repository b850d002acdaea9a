import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { credentialBytesMax } from "@signalbox/auth";
import { scopesOfRole } from "@signalbox/contracts";
import { startElsewhere } from "./elsewhere.ts";
import { type Harness, startAccount } from "./harness.ts";

let account: Harness;
before(async () => {
  account = await startAccount();
});
after(() => account.close());

const path = "/internal/principals";
const tokenOf = ({ authorization }: { authorization: string }) => authorization.slice("Bearer ".length);
const ask = (value: string, kind = "bearer") => account.sendInternal(path, { kind, value });

test("another service learns who a token is for, and the account is made on the way", async () => {
  const iat = Math.floor(account.context.clock.nowMs() / 1000) - 60;
  const person = account.person({ jti: "one", auth_time: 1_700_000_000, iat });
  const { status, body } = await ask(tokenOf(person));
  assert.equal(status, 200);
  const own = await account.send("GET", "/api/account/", { headers: person });
  assert.equal(body.account_id, own.body.id);
  assert.deepEqual([body.state, body.epoch, body.roles], ["active", 0, ["owner"]]);
  assert.deepEqual([...body.scopes].sort(), [...scopesOfRole("owner")].sort());
  const times = { auth_time: "2023-11-14T22:13:20.000Z", issued_at: new Date(iat * 1000).toISOString() };
  assert.deepEqual(body.credential, { kind: "token", id: "jti:corp:one", issuer: "corp", ...times });
  assert.ok(Date.parse(body.expires_at) > account.context.clock.nowMs());
});

test("a token that was good as Bearer is no API key and no password, here and elsewhere", async (t) => {
  const elsewhere = await startElsewhere(account);
  t.after(elsewhere.close);
  const person = account.person();
  const token = tokenOf(person);
  const basic = `Basic ${Buffer.from(`x:${token}`).toString("base64")}`;
  for (const headers of [person, { "x-api-key": token }, { authorization: basic }]) {
    const isGood = headers === person;
    assert.equal((await account.send("GET", "/api/account/", { headers })).status, isGood ? 200 : 401);
    assert.equal(await elsewhere.may(headers, "read"), isGood ? "yes" : "unauthorized");
  }
});

test("an ID token for the right audience opens nothing", async () => {
  const headers = account.person({ nonce: "n-0S6_WzA2Mj", at_hash: "77QmUPtjPfzWtF2AnpK9RQ" });
  const { status, body } = await account.send("GET", "/api/account/", { headers });
  assert.deepEqual([status, body.error.message], [401, "The access token is not accepted. It is an ID token (nonce)."]);
});

test("a token with a sign-in time that no calendar has is good in every service, and steps up in none", async (t) => {
  const elsewhere = await startElsewhere(account);
  t.after(elsewhere.close);
  for (const time of [4_102_444_800, 253_402_300_800, 8.64e12 + 1, 1e300]) {
    const person = account.person({ auth_time: time });
    assert.equal((await elsewhere.principalOf(person)).credential.authTimeMs, null, String(time));
    const patch = { headers: person, body: { contact_address: "ada@example.org" } };
    assert.equal((await account.send("PATCH", "/api/account/", patch)).status, 403, String(time));
  }
});

test("a bad credential is 422 here, so that it is never mistaken for a bad internal token", async () => {
  for (const value of [account.issuer.wrong.expired(), account.issuer.wrong.unsigned(), "rubbish", "sbx_dev_x"]) {
    const { status, body } = await ask(value);
    assert.equal(status, 422, value);
    assert.ok(!JSON.stringify(body).includes(value), "the credential is not echoed");
  }
  assert.equal((await ask("not-a-key", "basic")).status, 422);
  assert.equal((await ask("a".repeat(credentialBytesMax + 1))).status, 422);
});

test("nothing answers on the internal listener without the internal token", async () => {
  for (const token of ["", "wrong"]) {
    for (const internalPath of [path, "/graphql", "/nowhere"]) {
      const { status } = await account.sendInternal(internalPath, {}, { "x-signalbox-internal-token": token });
      assert.equal(status, 401);
    }
  }
});

test("the public listener has no internal routes", async () => {
  const { status } = await account.send("POST", path, { body: { kind: "bearer", value: "x" } });
  assert.equal(status, 404);
});

test("no credential that was presented is in the log", async () => {
  const person = account.person();
  await ask(tokenOf(person));
  await account.send("GET", "/api/account/", { headers: person });
  assert.ok(!JSON.stringify(account.context.logged).includes(tokenOf(person)));
});

test("while an issuer is down its known people keep working and others get Retry-After", async () => {
  const fresh = await startAccount();
  fresh.issuer.fail(503);
  const unseen = await fresh.send("GET", "/api/account/", { headers: fresh.person() });
  assert.equal(unseen.status, 503);
  assert.ok(Number(unseen.headers.get("retry-after")) > 0);
  await fresh.close();
});
