import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Harness } from "./harness.ts";
import { issuer, startIssuer, through } from "./oauth-fixture.ts";

let account: Harness;
before(async () => {
  account = await startIssuer();
});
after(() => account.close());

const page = ["GET", "HEAD", "POST"];
const read = ["GET", "HEAD"];

/** Every path of the issuer, with its methods. */
const paths: Readonly<Record<string, readonly string[]>> = {
  "": read,
  "/home": read,
  "/passkeys": page,
  "/sign-ins": page,
  "/passkeys.js": read,
  "/submit.js": read,
  "/sign-in/unknown": page,
  "/token": ["POST"],
  "/introspect": ["POST"],
  "/revoke": ["POST"],
  "/device-authorization": ["POST"],
  "/pushed-request": ["POST"],
  "/device": page,
  "/device/unknown": read,
  "/userinfo": page,
  "/jwks": read,
  "/.well-known/openid-configuration": read,
  "/.well-known/oauth-authorization-server": read,
  "/authorize": page,
  "/authorize/unknown": read,
  "/end-session": page,
  "/end-session/confirm": ["POST"],
  "/end-session/success": read,
  "/contact-links/unknown": page,
  "/invitations/unknown": page,
  "/first-link/unknown": page,
};
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

for (const [path, allowed] of Object.entries(paths)) {
  const allow = [...allowed, "OPTIONS"].join(", ");

  test(`a method that /oauth${path} lacks is 405 with Allow`, async () => {
    for (const method of methods.filter((one) => !allowed.includes(one))) {
      const answer = await through(account)(`${issuer}${path}`, { method });
      assert.deepEqual([answer.status, answer.headers.get("allow")], [405, allow], method);
      if (method !== "HEAD") assert.match(await answer.text(), /"code":"method_not_allowed"/);
    }
  });

  test(`OPTIONS tells the methods of /oauth${path}, which answers each`, async () => {
    const told = await through(account)(`${issuer}${path}`, { method: "OPTIONS" });
    assert.deepEqual([told.status, told.headers.get("allow")], [204, allow]);
    for (const method of allowed) {
      const { status } = await through(account)(`${issuer}${path}`, { method });
      assert.ok(status !== 405 && status !== 501 && status < 500, `${method} ${status}`);
    }
  });
}
