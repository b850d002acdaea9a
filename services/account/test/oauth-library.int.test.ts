import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "@signalbox/testing";
import * as openid from "openid-client";
import type { Harness } from "./harness.ts";
import { bearer, discover, issuer, makeClient, startIssuer, through } from "./oauth-fixture.ts";
import { application, applications, createVisitor, passThrough } from "./oauth-visitor.ts";

let account: Harness;
let administrator: Record<string, string>;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const readWith = async (token: string) =>
  (await account.send("GET", "/api/account/", { headers: bearer(token) })).status;

for (const algorithm of ["oidc", "oauth2"] as const) {
  test(`openid-client finds the issuer by ${algorithm} discovery, and a person signs in, refreshes and leaves`, async () => {
    const configuration = await discover(account, application.client_id, openid.None(), algorithm);
    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const nonce = openid.randomNonce();
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: application.redirect_uris[0] ?? "",
      scope: "openid email offline_access account:read",
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state,
      nonce,
    });
    const visitor = createVisitor(account);
    const back = await passThrough(visitor, account, url, `${crypto.randomUUID()}@example.org`);
    const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
    const first = await openid.authorizationCodeGrant(configuration, back, checks);
    assert.equal(first.claims()?.iss, issuer);
    assert.equal(await readWith(first.access_token), 200);

    const second = await openid.refreshTokenGrant(configuration, first.refresh_token ?? "");
    assert.equal(second.claims()?.sub, first.claims()?.sub);
    assert.equal(await readWith(second.access_token), 200);

    await openid.tokenRevocation(configuration, second.refresh_token ?? "", { token_type_hint: "refresh_token" });
    await assert.rejects(openid.refreshTokenGrant(configuration, second.refresh_token ?? ""), {
      error: "invalid_grant",
    });
    await eventually(async () => (await readWith(second.access_token)) === 401, { timeoutMs: 2000 });
  });

  test(`openid-client finds the issuer by ${algorithm} discovery, and a program works with tokens of its own`, async () => {
    const { id, secret } = await makeClient(account, administrator, ["account:read"]);
    const configuration = await discover(account, id, openid.ClientSecretBasic(secret), algorithm);
    const { access_token: token, expires_in, scope } = await openid.clientCredentialsGrant(configuration);
    assert.deepEqual([scope, expires_in], ["account:read", 600]);
    assert.equal(await readWith(token), 200);
    const { active, client_id } = await openid.tokenIntrospection(configuration, token);
    assert.deepEqual([active, client_id], [true, id]);
    await openid.tokenRevocation(configuration, token);
    assert.deepEqual(await openid.tokenIntrospection(configuration, token), { active: false });
    await eventually(async () => (await readWith(token)) === 401, { timeoutMs: 2000 });
  });
}

test("openid-client pushes its request, which a person follows once, and within a minute", async (t) => {
  const configuration = await discover(account, application.client_id, openid.None());
  const verifier = openid.randomPKCECodeVerifier();
  const visitor = createVisitor(account);
  const push = async () =>
    openid.buildAuthorizationUrlWithPAR(configuration, {
      redirect_uri: application.redirect_uris[0] ?? "",
      scope: "openid account:read",
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
  const pushed = await push();
  assert.deepEqual([...pushed.searchParams.keys()].sort(), ["client_id", "request_uri"]);
  const back = await passThrough(visitor, account, pushed, `${crypto.randomUUID()}@example.org`);
  const tokens = await openid.authorizationCodeGrant(configuration, back, { pkceCodeVerifier: verifier });
  assert.equal(await readWith(tokens.access_token), 200);
  const again = await visitor.open(pushed);
  assert.match(again.url.searchParams.get("error_description") ?? "", /request_uri is invalid/, "it was used");
  const late = await push();
  const inTime = await push();
  assert.ok((await visitor.open(inTime)).url.searchParams.has("code"));
  // The provider reads the machine's clock.
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 61_000 });
  const refused = await visitor.open(late);
  assert.match(refused.url.searchParams.get("error_description") ?? "", /request_uri is invalid/, "it has expired");
});

test("a client that knows the API alone finds its issuer, and all documents name the same endpoints", async () => {
  const { origin, pathname } = new URL(issuer.replace("/oauth", ""));
  const resource = `${origin}${pathname}`;
  const found = await through(account)(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  assert.equal(found.status, 200);
  const described = (await found.json()) as Record<string, unknown>;
  assert.deepEqual([described.resource, described.authorization_servers], [resource, [issuer]]);
  for (const algorithm of ["oidc", "oauth2"] as const) {
    const metadata = (await discover(account, "cli", openid.None(), algorithm)).serverMetadata();
    assert.deepEqual(
      [metadata.issuer, metadata.device_authorization_endpoint, metadata.pushed_authorization_request_endpoint],
      [issuer, `${issuer}/device-authorization`, `${issuer}/pushed-request`],
    );
    assert.ok(metadata.grant_types_supported?.includes("urn:ietf:params:oauth:grant-type:device_code"));
    const known = new Set([
      ...(described.scopes_supported as string[]),
      "openid",
      "offline_access",
      "email",
      "profile",
    ]);
    assert.deepEqual(
      (metadata.scopes_supported as string[]).filter((scope) => !known.has(scope)),
      [],
    );
  }
  for (const path of ["/other", "/house/oauth", "/house/"]) {
    const other = await through(account)(`${origin}/.well-known/oauth-protected-resource${path}`);
    assert.equal(other.status, 404, path);
  }
});

test("the metadata are the same at every address that a client may try, and nobody else's", async () => {
  const { origin, pathname } = new URL(issuer);
  const wellKnown = "/.well-known/oauth-authorization-server";
  const ask = async (url: string) => await through(account)(url);
  const read = async (url: string) => {
    const answer = await ask(url);
    assert.deepEqual([answer.status, answer.headers.get("cache-control")], [200, "public, max-age=300"], url);
    return answer.json();
  };
  const own = await read(`${issuer}/.well-known/openid-configuration`);
  for (const url of [`${origin}${wellKnown}${pathname}`, `${origin}${wellKnown}/oauth`, `${issuer}${wellKnown}`]) {
    assert.deepEqual(await read(url), own);
  }
  for (const path of ["", "/", "/other", "/oauth/token", "/oauthx"]) {
    assert.equal((await ask(`${origin}${wellKnown}${path}`)).status, 404, path);
  }
});
