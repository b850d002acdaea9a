import assert from "node:assert/strict";
import { test } from "node:test";
import { scopes, scopesOfRole } from "@signalbox/contracts";
import { parseIssuers } from "./issuers.ts";
import { accessOfToken } from "./token-claims.ts";

const issuer = (settings: object = {}) => {
  const entry = { name: "corp", issuer: "https://id.example", audience: "signalbox", ...settings };
  const [parsed] = parseIssuers(JSON.stringify([entry]));
  assert.ok(parsed);
  return parsed;
};
const scopesOf = (settings: object, claims: object) =>
  [...accessOfToken(issuer(settings), { sub: "user-1", ...claims }).scopes].sort();

test("a user's token that names none of our scopes gets what an owner has", () => {
  assert.deepEqual(scopesOf({}, {}), [...scopesOfRole("owner")].sort());
  assert.deepEqual(scopesOf({}, { scope: "openid profile email" }), [...scopesOfRole("owner")].sort());
});

test("scopes are read from scope as words and from scp as words or a list", () => {
  assert.deepEqual(scopesOf({}, { scope: "openid images:read account:read" }), ["account:read", "images:read"]);
  assert.deepEqual(scopesOf({}, { scp: "images:read" }), ["images:read"]);
  assert.deepEqual(scopesOf({}, { scp: ["images:read", 7, null] }), ["images:read"]);
});

test("a token gets nothing beyond its issuer's scopes-max", () => {
  const narrow = { "scopes-max": ["images:read"] };
  assert.deepEqual(scopesOf(narrow, { scope: "images:read images:write" }), ["images:read"]);
  assert.deepEqual(scopesOf(narrow, {}), ["images:read"]);
});

test("privileged scopes never come from scope, not even when scopes-max lists them", () => {
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

test("a given mapping is exhaustive: names that it does not list count for nothing, ours neither", () => {
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

test("roles of a claim without a mapping rule are nobody's", () => {
  assert.deepEqual(accessOfToken(issuer(), { sub: "u", roles: ["admin"] }).roles, ["owner"]);
  const roles = { "roles-claim": "roles" };
  assert.deepEqual(accessOfToken(issuer(roles), { sub: "u", roles: ["constructor", "__proto__"] }).roles, ["owner"]);
});

test("a client's token has only what it names", () => {
  const access = accessOfToken(issuer(), { sub: "svc", azp: "svc" });
  assert.equal(access.kind, "client");
  assert.deepEqual([...access.scopes], []);
  assert.deepEqual(scopesOf({}, { sub: "svc", client_id: "svc", scope: "images:read" }), ["images:read"]);
});

test("an issuer may tell clients apart by a claim of its own", () => {
  const kindOf = (rule: string, claims: object) =>
    accessOfToken(issuer({ "client-claim": rule }), { sub: "x", ...claims }).kind;
  assert.equal(kindOf("gty=client-credentials", { gty: "client-credentials" }), "client");
  assert.equal(kindOf("gty=client-credentials", { gty: "password", azp: "x" }), "token");
  assert.equal(kindOf("https://id.example/service", { "https://id.example/service": true }), "client");
  assert.equal(kindOf("https://id.example/service", {}), "token");
});

test("a wrong issuer list stops with every wrong member named", () => {
  assert.throws(() => parseIssuers("[{]"), /auth\.issuers is not JSON/);
  const bad = [{ name: "Corp", issuer: "ftp://x", audience: "", algorithms: ["HS256"], extra: 1 }];
  assert.throws(() => parseIssuers(JSON.stringify(bad)), /0\.name.*0\.issuer.*0\.audience.*0\.algorithms/s);
  const twice = [issuer(), issuer()].map(({ name, issuer: url, audience }) => ({ name, issuer: url, audience }));
  assert.throws(() => parseIssuers(JSON.stringify(twice)), /two issuers have one name/);
});

test("no configured issuer takes the name of the built-in one", () => {
  const taken = [{ name: "signalbox", issuer: "https://corp.example", audience: "us" }];
  assert.throws(() => parseIssuers(JSON.stringify(taken)), /built-in/);
});
