import assert from "node:assert/strict";
import { test } from "node:test";
import { scopes, scopesOfRole } from "@signalbox/contracts";
import { parseIssuers } from "./issuers.ts";
import { accessOfToken, otherPurposeOf } from "./token-claims.ts";

const issuer = (settings: object = {}) => {
  const entry = { name: "corp", issuer: "https://id.example", audience: "signalbox", ...settings };
  const [parsed] = parseIssuers(JSON.stringify([entry]));
  assert.ok(parsed);
  return parsed;
};
const scopesOf = (settings: object, claims: object) =>
  [...accessOfToken(issuer(settings), { sub: "user-1", ...claims }).scopes].sort();

test("a user's token without our scopes gets those of an owner", () => {
  assert.deepEqual(scopesOf({}, {}), [...scopesOfRole("owner")].sort());
  assert.deepEqual(scopesOf({}, { scope: "openid profile email" }), [...scopesOfRole("owner")].sort());
});

test("the token of a limited application has no scopes but those that it names", () => {
  const limited = { named_scopes_only: true };
  assert.deepEqual(scopesOf({}, { ...limited, scope: "openid" }), []);
  assert.deepEqual(scopesOf({}, { ...limited, scope: "openid images:read" }), ["images:read"]);
  assert.deepEqual(scopesOf({}, { named_scopes_only: "true" }), [...scopesOfRole("owner")].sort());
});

test("scopes are read from scope as words, from scp as words or a list", () => {
  assert.deepEqual(scopesOf({}, { scope: "openid images:read account:read" }), ["account:read", "images:read"]);
  assert.deepEqual(scopesOf({}, { scp: "images:read" }), ["images:read"]);
  assert.deepEqual(scopesOf({}, { scp: ["images:read", 7, null] }), ["images:read"]);
});

test("a token gets nothing beyond its issuer's scopes-max", () => {
  const narrow = { "scopes-max": ["images:read"] };
  assert.deepEqual(scopesOf(narrow, { scope: "images:read images:write" }), ["images:read"]);
  assert.deepEqual(scopesOf(narrow, {}), ["images:read"]);
});

test("privileged scopes never come from scope, even when scopes-max lists them", () => {
  const generous = { "scopes-max": scopes };
  assert.deepEqual(scopesOf(generous, { scope: "account:admin config:admin management:read account:read" }), [
    "account:read",
  ]);
});

test("a mapped role brings its scopes, the privileged ones too", () => {
  const roles = { "roles-claim": "realm_access.roles", roles: { "signalbox-boss": "admin" } };
  const access = accessOfToken(issuer(roles), { sub: "u", realm_access: { roles: ["signalbox-boss", "other"] } });
  assert.deepEqual(access.roles, ["admin"]);
  assert.deepEqual([...access.scopes].sort(), [...scopes].sort());
});

test("a mapping is exhaustive: unlisted names count for nothing, even ours", () => {
  const rolesOf = (mapping: object | undefined, ...names: string[]) =>
    accessOfToken(issuer({ "roles-claim": "roles", ...(mapping && { roles: mapping }) }), { sub: "u", roles: names });
  for (const name of ["admin", "operator", "viewer", "toString"]) {
    const { roles, scopes } = rolesOf({ "sbx-admin": "admin" }, name);
    assert.deepEqual([roles, [...scopes].sort()], [["owner"], [...scopesOfRole("owner")].sort()], name);
  }
  assert.deepEqual(rolesOf({ "sbx-admin": "admin" }, "viewer", "sbx-admin").roles, ["admin"]);
  assert.deepEqual(rolesOf({}, "admin").roles, ["owner"]);
  assert.deepEqual(rolesOf(undefined, "viewer", "other").roles, ["viewer"], "none given: our own names");
});

test("scopes that a token names narrow what its role could do", () => {
  const roles = { "roles-claim": "roles" };
  assert.deepEqual(scopesOf(roles, { roles: ["admin"], scope: "account:read account:admin" }), [
    "account:admin",
    "account:read",
  ]);
});

test("roles of an unmapped claim are ignored", () => {
  assert.deepEqual(accessOfToken(issuer(), { sub: "u", roles: ["admin"] }).roles, ["owner"]);
  const roles = { "roles-claim": "roles" };
  assert.deepEqual(accessOfToken(issuer(roles), { sub: "u", roles: ["constructor", "__proto__"] }).roles, ["owner"]);
});

test("a client's token has only the scopes that it names", () => {
  const access = accessOfToken(issuer(), { sub: "svc", azp: "svc" });
  assert.equal(access.kind, "client");
  assert.deepEqual([...access.scopes], []);
  assert.deepEqual(scopesOf({}, { sub: "svc", client_id: "svc", scope: "images:read" }), ["images:read"]);
});

test("an issuer may mark clients by a claim of its own", () => {
  const kindOf = (rule: string, claims: object) =>
    accessOfToken(issuer({ "client-claim": rule }), { sub: "x", ...claims }).kind;
  assert.equal(kindOf("gty=client-credentials", { gty: "client-credentials" }), "client");
  assert.equal(kindOf("gty=client-credentials", { gty: "password", azp: "x" }), "token");
  assert.equal(kindOf("https://id.example/service", { "https://id.example/service": true }), "client");
  assert.equal(kindOf("https://id.example/service", {}), "token");
});

test("an invalid issuer list stops the start with every wrong member named", () => {
  assert.throws(() => parseIssuers("[{]"), /auth\.issuers is not JSON/);
  const bad = [{ name: "Corp", issuer: "ftp://x", audience: "", algorithms: ["HS256"], extra: 1 }];
  assert.throws(() => parseIssuers(JSON.stringify(bad)), /0\.name.*0\.issuer.*0\.audience.*0\.algorithms/s);
  const twice = [issuer(), issuer()].map(({ name, issuer: url, audience }) => ({ name, issuer: url, audience }));
  assert.throws(() => parseIssuers(JSON.stringify(twice)), /two issuers have the same name/);
});

test("no configured issuer may have the name of the built-in one", () => {
  const taken = [{ name: "signalbox", issuer: "https://corp.example", audience: "us" }];
  assert.throws(() => parseIssuers(JSON.stringify(taken)), /built-in/);
});

for (const [what, claims] of Object.entries({
  "an ID token with a nonce": { nonce: "n-0S6_WzA2Mj" },
  "an ID token with the hash of an access token": { at_hash: "77QmUPtjPfzWtF2AnpK9RQ" },
  "an ID token with the hash of a code": { c_hash: "LDktKdoQak3Pk0cnXxCltA" },
  "an ID token with the hash of a state": { s_hash: "LDktKdoQak3Pk0cnXxCltA" },
  "Keycloak's ID token": { typ: "ID" },
  "Keycloak's refresh token": { typ: "Refresh" },
  "Keycloak's offline token": { typ: "Offline" },
  "a token whose type is no text": { typ: ["Bearer"] },
  "Cognito's ID token": { token_use: "id" },
  "a logout token": { events: { "http://schemas.openid.net/event/backchannel-logout": {} } },
  "a token that is bound to a DPoP key": { cnf: { jkt: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I" } },
  "a token that is bound to a certificate": { cnf: { "x5t#S256": "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2" } },
  "a token with a binding that says nothing": { cnf: null },
})) {
  test(`${what} is refused as an access token`, () => {
    assert.notEqual(otherPurposeOf({ typ: "JWT" }, { sub: "ada", ...claims }), null);
  });
}

test("tokens of other kinds are recognized by their header", () => {
  for (const typ of ["logout+jwt", "dpop+jwt", "secevent+jwt", "token-introspection+jwt", "oauth-authz-req+jwt", ""]) {
    assert.notEqual(otherPurposeOf({ typ }, { sub: "ada" }), null, typ);
  }
});

test("the type of an access token is optional", () => {
  for (const typ of ["JWT", "at+jwt", "application/at+JWT", undefined]) {
    assert.equal(otherPurposeOf({ ...(typ && { typ }) }, { sub: "ada" }), null, typ);
  }
  for (const claims of [{ typ: "Bearer" }, { typ: "at+jwt" }, { token_use: "access" }]) {
    assert.equal(otherPurposeOf({}, { sub: "ada", ...claims }), null);
  }
});
