import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { type TestContext, test } from "node:test";
import { createReceiver, type ReceivedRequest } from "@signalbox/testing";
import { createHome, json } from "./call.ts";

const credential = {
  account_id: "acc_1",
  kind: "token",
  id: "i",
  name: "n",
  roles: [],
  scopes: [],
  expires_at: null,
};

/** A deployment with an issuer whose person confirms at once. Every refresh token is good once. */
async function createDeployment(t: TestContext) {
  let issued = 0;
  const revoked: string[] = [];
  const asked: URLSearchParams[] = [];
  const deployment = await createReceiver((request) => answer(request));
  t.after(() => deployment.close());
  const { url } = deployment;
  const issuer = `${url}/oauth`;

  function answer({ path, headers, body }: ReceivedRequest) {
    const form = new URLSearchParams(body.toString());
    switch (path) {
      case "/.well-known/oauth-protected-resource":
        return json({ authorization_servers: [issuer] });
      case "/oauth/.well-known/openid-configuration":
        return json({
          issuer,
          token_endpoint: `${issuer}/token`,
          device_authorization_endpoint: `${issuer}/device-authorization`,
          revocation_endpoint: `${issuer}/revoke`,
        });
      case "/oauth/device-authorization":
        asked.push(form);
        return json({
          user_code: "BCDF-GHJK",
          verification_uri: `${issuer}/device`,
          device_code: "d",
          expires_in: 600,
          interval: 0,
        });
      case "/oauth/token":
        if (form.get("grant_type") === "refresh_token" && form.get("refresh_token") !== `refresh-${issued}`) {
          return json({ error: "invalid_grant" }, 400);
        }
        issued += 1;
        return json({ access_token: `access-${issued}`, refresh_token: `refresh-${issued}`, expires_in: 600 });
      case "/oauth/revoke":
        revoked.push(form.get("token") ?? "");
        return {};
      case "/api/account/credential":
        return headers.authorization === `Bearer access-${issued}` || headers["x-api-key"] === "good"
          ? json(credential)
          : json({ error: { code: "unauthorized", message: "Not valid." } }, 401);
      default:
        return json({ error: { code: "forbidden", message: "Not allowed." } }, 403);
    }
  }
  return { deployment, url, revoked, asked, issued: () => issued };
}

test("a sign-in lasts from login to logout, renewed once for concurrent calls", async (t) => {
  const { url, revoked, asked, issued } = await createDeployment(t);
  const { call, profilePath } = await createHome(t);
  const login = await call(["login", "--url", url, "--scope", "account:read"]);
  assert.equal(login.exitCode, 0, login.stderr);
  assert.match(login.stderr, /Open .*\/oauth\/device\nand confirm the code BCDF-GHJK/);
  assert.equal(asked[0]?.get("scope"), "openid offline_access account:read");
  assert.match(login.stdout, /Signed in at .* as acc_1/);
  const later = { nowMs: () => Date.now() + 599_000 };
  const renewed = await Promise.all([1, 2, 3, 4].map(() => call(["status"], later)));
  assert.deepEqual(
    renewed.map(({ exitCode }) => exitCode),
    [0, 0, 0, 0],
  );
  // The clock of these calls is past the end of the token that they renewed: the next one renews again.
  assert.ok(issued() > 1 && issued() <= 5);
  assert.equal((await call(["logout"])).exitCode, 0);
  assert.deepEqual(revoked, [`refresh-${issued()}`]);
  assert.deepEqual(JSON.parse(await readFile(profilePath, "utf8")).profiles, {});
  assert.equal((await call(["status", "--url", url])).exitCode, 3);
});

test("a profile's credential never reaches another address, not by redirect either", async (t) => {
  const { url, deployment } = await createDeployment(t);
  const other = await createReceiver(json({ items: [] }));
  t.after(() => other.close());
  const { call } = await createHome(t);
  assert.equal((await call(["login", "--with-key", "--url", url], { stdin: "good\n" })).exitCode, 0);
  for (const more of [["--url", other.url], []]) {
    const { exitCode, stderr } = await call(["why", "x", ...more], { environment: { SIGNALBOX_URL: other.url } });
    assert.equal(exitCode, 3);
    assert.match(stderr, /Not signed in at/);
  }
  deployment.answer({ status: 307, headers: { location: `${other.url}/stolen` } });
  assert.equal((await call(["why", "x"])).exitCode, 1);
  assert.equal((await call(["api", "/images"])).exitCode, 0);
  assert.equal(other.requests.length, 0);
});

test("login keeps no key unless Signalbox accepts it", async (t) => {
  const { url } = await createDeployment(t);
  const { call } = await createHome(t);
  const refused = await call(["login", "--with-key", "--url", url], { stdin: "bad" });
  assert.deepEqual([refused.exitCode, refused.stdout], [3, ""]);
  assert.equal((await call(["login", "--with-key", "--url", url])).exitCode, 2);
  assert.equal((await call(["login", "--with-key", "--url", url], { isTerminal: true })).exitCode, 2);
  assert.equal((await call(["logout"])).exitCode, 2);
});

test("SIGNALBOX_API_KEY beats the profile without being written to it", async (t) => {
  const { url, deployment } = await createDeployment(t);
  const { call, profilePath } = await createHome(t);
  await call(["login", "--with-key", "--url", url], { stdin: "good" });
  const status = await call(["status", "--json"], { environment: { SIGNALBOX_API_KEY: "good", SIGNALBOX_URL: url } });
  assert.equal(JSON.parse(status.stdout).credential.account_id, "acc_1");
  await call(["why", "x"], { environment: { SIGNALBOX_API_KEY: "from-environment" } });
  const why = deployment.requests.find(({ path }) => path === "/api/v1/why/x");
  assert.equal(why?.headers["x-api-key"], "from-environment");
  assert.doesNotMatch(await readFile(profilePath, "utf8"), /from-environment/);
});
