import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { request as plainRequest } from "node:http";
import { after, before, test } from "node:test";
import { eventually } from "@signalbox/testing";
import * as openid from "openid-client";
import { startElsewhere } from "./elsewhere.ts";
import type { Harness } from "./harness.ts";
import {
  baseUrl,
  bearer,
  claimsOf,
  clientToken,
  discover,
  headerOf,
  issuer,
  makeClient,
  startIssuer,
  startSecond,
} from "./oauth-fixture.ts";

let account: Harness;
let administrator: Record<string, string>;
before(async () => {
  account = await startIssuer();
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const readWith = async (token: string, instance = account) =>
  (await instance.send("GET", "/api/account/", { headers: bearer(token) })).status;

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

test("introspection shows a client its own tokens and its account's, in the terms of RFC 7662", async () => {
  const [client, colleague] = [await makeClient(account, administrator), await makeClient(account, administrator)];
  const { configuration, access_token: token } = await clientToken(account, client, "account:read");
  const { exp, iat, account_id } = claimsOf(token);
  const expected = { active: true, client_id: client.id, exp, iat, iss: issuer, aud: baseUrl, account_id };
  assert.deepEqual(await openid.tokenIntrospection(configuration, token), {
    ...expected,
    scope: "account:read",
    token_type: "Bearer",
  });
  const theirs = await discover(account, colleague.id, openid.ClientSecretPost(colleague.secret));
  assert.equal((await openid.tokenIntrospection(theirs, token)).active, true);
});

test("introspection of garbage, forgeries and ended tokens answers only that they are inactive", async () => {
  const client = await makeClient(account, administrator);
  const { configuration, access_token: token } = await clientToken(account, client);
  const { jti } = claimsOf(token);
  const [header = "", body = "", signature = ""] = token.split(".");
  const forged = [
    "garbage",
    "a.b.c",
    String(jti),
    `${header}.${body}.${signature.slice(0, -4)}AAAA`,
    `${encoded({ alg: "none", typ: "at+jwt" })}.${body}.`,
    `${encoded({ alg: "ES256", typ: "at+jwt", kid: "unknown" })}.${body}.${signature}`,
    signedBy(token),
    encoded({ alg: "none" }),
  ];
  for (const each of forged) {
    assert.deepEqual(await openid.tokenIntrospection(configuration, each), { active: false }, each);
  }
  await openid.tokenRevocation(configuration, token);
  assert.deepEqual(await openid.tokenIntrospection(configuration, token), { active: false });
});

/** The claims of a token under a forged key that names the issuer. */
function signedBy(token: string): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signed = `${encoded(headerOf(token))}.${encoded(claimsOf(token))}`;
  const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

test("a token under a foreign key, or under none, opens nothing", async () => {
  const { access_token: token } = await clientToken(account, await makeClient(account, administrator));
  const unsigned = `${encoded({ alg: "none", typ: "at+jwt" })}.${encoded(claimsOf(token))}.`;
  const embedded = { ...headerOf(token), jwk: { kty: "EC", crv: "P-256", x: "AA", y: "AA" } };
  for (const each of [signedBy(token), unsigned, `${encoded(embedded)}.${token.split(".").slice(1).join(".")}`]) {
    assert.equal(await readWith(each), 401);
  }
  assert.equal(await readWith(token), 200);
});

test("a revoked access token stops within two seconds in every service, and the client's others go on", async () => {
  const elsewhere = await startElsewhere(account);
  const client = await makeClient(account, administrator);
  const { configuration, access_token: token } = await clientToken(account, client);
  const { access_token: other } = await clientToken(account, client);
  for (const each of [token, other]) assert.equal(await elsewhere.may(bearer(each), "read"), "yes");
  await openid.tokenRevocation(configuration, token, { token_type_hint: "access_token" });
  const isRefusedEverywhere = async () =>
    (await elsewhere.may(bearer(token), "read")) === "unauthorized" && (await readWith(token)) === 401;
  await eventually(isRefusedEverywhere, { timeoutMs: 2000, message: "refused in both services" });
  assert.deepEqual([await elsewhere.may(bearer(other), "read"), await readWith(other)], ["yes", 200]);
  const [entry] = (await account.send("GET", "/api/account/audit/", { headers: administrator })).body.items;
  assert.deepEqual([entry.action, entry.subject], ["token.revoke", `jti:signalbox:${String(claimsOf(token).jti)}`]);

  const later = await startElsewhere(account);
  assert.equal(await later.may(bearer(token), "read"), "unauthorized", "after a restart as well");
  const wanted = `token:jti:signalbox:${String(claimsOf(token).jti)}`;
  await eventually(async () => {
    const said = await account.eventsOf(String(claimsOf(token).account_id), 1);
    return said.some(({ name, subject }) => name === "access.changed" && subject === wanted);
  });
  await Promise.all([elsewhere.close(), later.close()]);
});

test("of a hundred revoked tokens none is accepted by the very next request", async () => {
  const client = await makeClient(account, administrator);
  const statuses: number[] = [];
  for (let round = 0; round < 100; round++) {
    const { configuration, access_token: token } = await clientToken(account, client);
    assert.equal(await readWith(token), 200);
    await openid.tokenRevocation(configuration, token);
    statuses.push(await readWith(token));
  }
  assert.deepEqual(new Set(statuses), new Set([401]));
});

test("a client revokes no token but its own, and learns nothing from the attempt", async () => {
  const [client, stranger] = [await makeClient(account, administrator), await makeClient(account, administrator)];
  const { access_token: token } = await clientToken(account, client);
  const configuration = await discover(account, stranger.id, openid.ClientSecretBasic(stranger.secret));
  await openid.tokenRevocation(configuration, token);
  for (const garbage of ["garbage", "a.b.c", signedBy(token)]) await openid.tokenRevocation(configuration, garbage);
  assert.equal(await readWith(token), 200);
});

test("introspection and revocation require client authentication", async () => {
  const { access_token: token } = await clientToken(account, await makeClient(account, administrator));
  for (const path of ["introspect", "revoke"]) {
    const answer = await fetch(`${account.url}/oauth/${path}`, {
      method: "POST",
      body: new URLSearchParams({ token }),
    });
    assert.equal(answer.status, 400);
    assert.equal(((await answer.json()) as { error: string }).error, "invalid_request");
  }
});

test("large and odd bodies are refused, and nothing of them is in the log", async () => {
  const { id, secret } = await makeClient(account, administrator);
  const post = async (path: string, body: string, type = "application/x-www-form-urlencoded") => {
    const headers = { "content-type": type };
    return (await fetch(`${account.url}/oauth/${path}`, { method: "POST", body, headers })).status;
  };
  const credentials = `client_id=${id}&client_secret=${secret}`;
  const large = "a".repeat(57 * 1024);
  assert.equal(await post("introspect", `${credentials}&token=${large}`), 413);
  assert.equal(await post("token", `${credentials}&grant_type=client_credentials&x=${large}`), 413);
  for (const path of ["introspect", "revoke", "token"]) {
    assert.equal(await post(path, JSON.stringify({ token: "x" }), "application/json"), 400, path);
    assert.equal(await post(path, `${credentials}&token=a&token=b&grant_type=a&grant_type=b`), 400, path);
  }
  assert.ok(!JSON.stringify(account.context.logged).includes(secret));
});

test("the issuer's URLs do not depend on the Host that a caller names", async () => {
  const forged = {
    host: "evil.example",
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "http",
    forwarded: "host=evil.example;proto=http",
  };
  const { port } = new URL(account.url);
  const text = await new Promise<string>((resolve, reject) => {
    const path = "/oauth/.well-known/openid-configuration";
    const asked = plainRequest({ port, path, headers: forged }, async (response) => {
      resolve(Buffer.concat(await response.toArray()).toString());
    });
    asked.on("error", reject).end();
  });
  const document = JSON.parse(text);
  assert.equal(document.issuer, issuer);
  for (const [name, value] of Object.entries(document)) {
    if (name.endsWith("_endpoint") || name === "jwks_uri") assert.ok(String(value).startsWith(`${issuer}/`), name);
  }
  assert.ok(!text.includes("evil"));
});

test("two instances on one database are one issuer: the tokens of one are good at the other, and so are their ends", async () => {
  const second = await startSecond(account);
  const client = await makeClient(account, administrator);
  const { access_token: token } = await clientToken(second, client);
  assert.equal(await readWith(token), 200);
  assert.equal(await readWith(token, second), 200);
  const atFirst = await discover(account, client.id, openid.ClientSecretBasic(client.secret));
  assert.equal((await openid.tokenIntrospection(atFirst, token)).active, true);
  await openid.tokenRevocation(atFirst, token);
  const atSecond = await discover(second, client.id, openid.ClientSecretBasic(client.secret));
  assert.equal((await openid.tokenIntrospection(atSecond, token)).active, false);
  await eventually(async () => (await readWith(token, second)) === 401, { timeoutMs: 2000 });
  await second.close();
});

test("what the issuer does not have is 404 in the words of every other route", async () => {
  for (const path of ["/oauth/me", "/oauth/reg", "/oauth/request", "/oauth/backchannel"]) {
    const { status, body } = await account.send("GET", path);
    assert.deepEqual([status, body.error.code], [404, "not_found"], path);
  }
});

test("switched off, the built-in issuer neither answers nor is trusted", async () => {
  const elsewhere = await startIssuer({ "account.issuer.enabled": false });
  const { access_token: token } = await clientToken(account, await makeClient(account, administrator));
  assert.equal((await elsewhere.send("GET", "/oauth/.well-known/openid-configuration")).status, 404);
  assert.equal(await readWith(token, elsewhere), 401);
  await elsewhere.close();
});
