import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "@signalbox/testing";
import type { Harness } from "./harness.ts";
import { bearer, startIssuer } from "./oauth-fixture.ts";
import { applications, createVisitor, signedIn, startSignIn } from "./oauth-visitor.ts";

let account: Harness;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
});
after(() => account.close());

const path = "/api/account/recovery-codes/";

async function person() {
  const who = await signedIn(account, { scope: "openid account:read account:write account:security" });
  return { ...who, id: String(who.idClaims?.sub), headers: bearer(who.access_token) };
}

async function holder() {
  const who = await person();
  const { status, body } = await account.send("POST", path, { headers: who.headers });
  assert.equal(status, 201);
  return { ...who, codes: body.codes as string[] };
}

/** Types a recovery code on the page of a new sign-in. */
async function recover(code: string) {
  const visitor = createVisitor(account);
  const { url, finish } = await startSignIn(account);
  const asked = await visitor.submit(await visitor.open(url), {}, "recovery");
  return { finish, shown: await visitor.submit(asked, { recovery_code: code }, "recovery-code") };
}

test("ten codes are shown once", async () => {
  const { headers, codes } = await holder();
  assert.equal(new Set(codes).size, 10);
  for (const code of codes) assert.match(code, /^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
  const { body } = await account.send("GET", path, { headers });
  assert.deepEqual({ ...body, created_at: "" }, { left: 10, created_at: "" });
});

test("a person without codes reads that none are left", async () => {
  const { headers } = await person();
  assert.deepEqual((await account.send("GET", path, { headers })).body, { left: 0, created_at: null });
});

test("a recovery code signs its person in without an address", async () => {
  const { id, codes } = await holder();
  const { finish, shown } = await recover(codes[0] ?? "");
  assert.equal((await finish(shown.url)).claims()?.sub, id);
});

test("a code typed in capitals with look-alikes signs in", async () => {
  const { codes } = await holder();
  const typed = (codes[0] ?? "").toUpperCase().replaceAll("-", " ").replaceAll("0", "O").replaceAll("1", "l");
  assert.ok((await recover(typed)).shown.url.searchParams.has("code"));
});

test("a used code signs nobody in", async () => {
  const { codes } = await holder();
  await recover(codes[0] ?? "");
  assert.equal((await recover(codes[0] ?? "")).shown.status, 422);
});

test("new codes end the earlier ones", async () => {
  const { headers, codes } = await holder();
  await account.send("POST", path, { headers });
  assert.equal((await recover(codes[0] ?? "")).shown.status, 422);
});

test("the owner gets a notice of a used code with the number of those left", async () => {
  const { address, codes } = await holder();
  await recover(codes[0] ?? "");
  const mail = await eventually(() => {
    const mails = account.mailbox.mails.filter(({ to }) => to === address);
    return mails.find(({ subject }) => subject === "A sign-in with a recovery code") ?? null;
  });
  assert.match(mail.text, /Codes left: 9\./);
});

test("a used code is in the audit of its account", async () => {
  const { headers, codes } = await holder();
  await recover(codes[0] ?? "");
  const { body } = await account.send("GET", "/api/account/audit/?action=account.use_recovery_code", { headers });
  assert.equal(body.items.length, 1);
});

test("a sign-in by recovery code is an event with its method", async () => {
  const { id, codes } = await holder();
  await recover(codes[0] ?? "");
  const methods = await eventually(async () => {
    const own = (await account.eventsOf(id, 1)).filter(({ name }) => name === "sign_in.succeeded");
    return own.length > 1 && own.map(({ data }) => (data as { method: string }).method);
  });
  assert.deepEqual(methods, ["code", "recovery_code"]);
});

test("an API key makes no codes that would sign it in as a person", async () => {
  const { headers } = await person();
  const body = { name: "robot", scopes: ["account:security"] };
  const made = await account.send("POST", "/api/account/api-keys/", { headers, body });
  const refused = await account.send("POST", path, { headers: { "x-api-key": made.body.key } });
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [403, "not_a_person"]);
});

test("the graph makes codes as REST does", async () => {
  const { headers } = await person();
  const text = "mutation { createRecoveryCodes { codes errors { message } } }";
  const { data } = await account.query(headers, text);
  assert.equal(data.createRecoveryCodes.codes.length, 10);
});

// The last test: its refusals count against the address that all people here share.
test("wrong codes are refused for a while after twenty", async () => {
  const { codes } = await holder();
  for (let count = 0; count < 20; count++) await recover("0000-0000-0000-0000");
  assert.equal((await recover(codes[0] ?? "")).shown.status, 429);
});
