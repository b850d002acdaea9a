import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as openid from "openid-client";
import type { Harness } from "./harness.ts";
import { baseUrl, bearer, discover, issuer, startIssuer, through } from "./oauth-fixture.ts";
import { createVisitor, passThrough, startSignIn } from "./oauth-visitor.ts";

let account: Harness;
before(async () => {
  account = await startIssuer();
});
after(() => account.close());

const freshAddress = () => `${crypto.randomUUID()}@example.org`;

test("a person who opens the issuer's own address signs in there, and it says who is signed in", async () => {
  const visitor = createVisitor(account);
  const stranger = await visitor.open(issuer);
  assert.equal(stranger.status, 200);
  assert.match(stranger.text, /Nobody is signed in/);
  const [, signIn = ""] = /href="([^"]+\/authorize[^"]+)"/.exec(stranger.text) ?? [];
  const home = await passThrough(visitor, account, new URL(signIn.replaceAll("&amp;", "&")), freshAddress());
  assert.equal(home.href, issuer, "the code does not stay in the address");
  const known = await visitor.open(`${issuer}/`);
  assert.equal(known.status, 200);
  assert.match(known.text, /You are signed in to Signalbox as “/);
  for (const [, path = ""] of known.text.matchAll(/href="([^"]+)"/g)) {
    assert.equal((await visitor.open(new URL(path, baseUrl))).status, 200, `${path} is there`);
  }
});

test("the page of the issuer takes no writes, and carries no policy that lets scripts in", async () => {
  const ask = through(account);
  assert.equal((await ask(issuer, { method: "POST", body: new URLSearchParams() })).status, 405);
  const policy = (await ask(issuer)).headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /script-src/);
});

test("the console of every deployment signs people in, and returns only to its own address", async () => {
  const redirect = `${baseUrl}/console/callback`;
  const { url, finish } = await startSignIn(account, { client: "console", redirect, scope: "openid account:read" });
  const visitor = createVisitor(account);
  const tokens = await finish(await passThrough(visitor, account, url, freshAddress()));
  const own = await account.send("GET", "/api/account/", { headers: bearer(tokens.access_token) });
  assert.equal(own.status, 200);
  for (const other of ["https://signalbox.example/console/callback", `${redirect}/x`, `${redirect}?x`]) {
    const foreign = await startSignIn(account, { client: "console", redirect: other });
    const refused = await visitor.open(foreign.url);
    assert.equal(refused.status, 400, other);
    assert.match(refused.text, /redirect_uri/);
  }
});

test("the command line of every deployment cannot be sent anywhere by a browser", async () => {
  const configuration = await discover(account, "cli", openid.None());
  const url = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: "http://127.0.0.1/back",
    scope: "openid",
    code_challenge: await openid.calculatePKCECodeChallenge(openid.randomPKCECodeVerifier()),
    code_challenge_method: "S256",
  });
  const refused = await createVisitor(account).open(url);
  assert.equal(refused.status, 400);
});
