import assert from "node:assert/strict";
import { test } from "node:test";
import { otherPurposeOf } from "./token-purpose.ts";

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
  test(`${what} is no access token`, () => {
    assert.notEqual(otherPurposeOf({ typ: "JWT" }, { sub: "ada", ...claims }), null);
  });
}

test("the header tells tokens of other kinds", () => {
  for (const typ of ["logout+jwt", "dpop+jwt", "secevent+jwt", "token-introspection+jwt", "oauth-authz-req+jwt", ""]) {
    assert.notEqual(otherPurposeOf({ typ }, { sub: "ada" }), null, typ);
  }
});

test("access tokens may say that they are some, and need not", () => {
  for (const typ of ["JWT", "at+jwt", "application/at+JWT", undefined]) {
    assert.equal(otherPurposeOf({ ...(typ && { typ }) }, { sub: "ada" }), null, typ);
  }
  for (const claims of [{ typ: "Bearer" }, { typ: "at+jwt" }, { token_use: "access" }]) {
    assert.equal(otherPurposeOf({}, { sub: "ada", ...claims }), null);
  }
});
