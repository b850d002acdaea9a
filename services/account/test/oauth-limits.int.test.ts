import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Harness } from "./harness.ts";
import { type CreatedClient, makeClient, startIssuer } from "./oauth-fixture.ts";
import { application, applications, createVisitor, signedIn, startSignIn } from "./oauth-visitor.ts";

let account: Harness;
let administrator: Record<string, string>;
before(async () => {
  account = await startIssuer({
    "account.oauth.applications": applications,
    "http.rate-limit.anonymous.requests": 5,
    "http.rate-limit.anonymous.window": 3_600_000,
    "http.rate-limit.failed-sign-in.requests": 3,
    "http.rate-limit.failed-sign-in.window": 3_600_000,
    "account.oauth.client-requests": 50,
    "account.oauth.client-failures": 4,
  });
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const post = (path: string, form: Record<string, string>, headers = {}) =>
  fetch(`${account.url}/oauth/${path}`, { method: "POST", headers, body: new URLSearchParams(form) });
const posted = ({ id, secret }: CreatedClient) => ({ client_id: id, client_secret: secret });
const askForToken = (client: CreatedClient) => post("token", { grant_type: "client_credentials", ...posted(client) });
const wrong = (client: CreatedClient): CreatedClient => ({ ...client, secret: "wrong" });

const documents = [
  "/oauth/jwks",
  "/oauth/.well-known/openid-configuration",
  "/oauth/.well-known/oauth-authorization-server",
  "/.well-known/oauth-authorization-server/oauth",
];

test("OPTIONS lists the methods of an issuer's path, and is never counted", async () => {
  const paths = {
    "/oauth/token": "POST, OPTIONS",
    "/oauth/jwks": "GET, HEAD, OPTIONS",
    "/oauth/authorize": "GET, HEAD, POST, OPTIONS",
    "/oauth/end-session/confirm": "POST, OPTIONS",
    "/oauth/sign-in/x": "GET, HEAD, POST, OPTIONS",
  };
  for (const [path, allow] of Object.entries(paths)) {
    const answer = await fetch(account.url + path, { method: "OPTIONS" });
    assert.deepEqual([path, answer.status, answer.headers.get("allow")], [path, 204, allow]);
  }
  assert.equal((await fetch(`${account.url}/oauth/nothing`, { method: "OPTIONS" })).status, 404);
});

/** Expects a refusal by RFC 6749 §5.2, with the time of the next try. */
async function assertRefused(answer: Response): Promise<void> {
  assert.equal(answer.status, 429);
  assert.ok(Number(answer.headers.get("retry-after")) > 0);
  assert.equal(answer.headers.get("www-authenticate"), null);
  const body = (await answer.json()) as { error: string; error_description: string };
  assert.equal(body.error, "temporarily_unavailable");
  assert.equal(typeof body.error_description, "string");
}

test("wrong API keys and stray requests from its address keep nobody from tokens, keys, discovery and signing in", async () => {
  const client = await makeClient(account, administrator);
  for (let count = 0; count < 10; count++) {
    await account.send("GET", "/api/account/", { headers: { "x-api-key": "sbx_dev_wrong" } });
    await account.send("GET", "/oauth/nothing");
  }
  assert.equal((await account.send("GET", "/api/account/", { headers: { "x-api-key": "sbx_dev_wrong" } })).status, 429);
  const { code, doc_url: docs } = (await account.send("GET", "/oauth/nothing")).body.error;
  assert.deepEqual([code, docs.endsWith("#rate_limited")], ["rate_limited", true]);
  for (let count = 0; count < 10; count++) {
    assert.equal((await askForToken(client)).status, 200);
    for (const path of documents) {
      const { status, headers } = await account.send("GET", path);
      assert.deepEqual([status, headers.get("ratelimit")], [200, null], path);
    }
    const { url } = await startSignIn(account);
    assert.equal((await createVisitor(account).open(url)).status, 200);
  }
  assert.ok((await signedIn(account)).access_token);
});

test("wrong secrets are refused after some, the right one never, at every endpoint that takes it", async () => {
  const client = await makeClient(account, administrator);
  for (let count = 0; count < 4; count++) assert.equal((await askForToken(wrong(client))).status, 401);
  await assertRefused(await askForToken(wrong(client)));
  for (const path of ["introspect", "revoke"]) {
    await assertRefused(await post(path, { ...posted(wrong(client)), token: "x" }));
    assert.equal((await post(path, { ...posted(client), token: "x" })).status, 200);
  }
  const good = await askForToken(client);
  assert.equal(good.status, 200);
  assert.equal(good.headers.get("ratelimit-policy"), '"client";q=50;w=10');
  const other = await makeClient(account, administrator);
  assert.equal((await askForToken(wrong(other))).status, 401, "the failures are one client's");
});

test("made-up clients share the failures of their address, and keep no client that is there from its own", async () => {
  const client = await makeClient(account, administrator);
  const invented = () => askForToken({ id: `cli_${crypto.randomUUID().replaceAll("-", "")}`, secret: "x" });
  const statuses: number[] = [];
  for (let count = 0; count < 6; count++) statuses.push((await invented()).status);
  assert.deepEqual(statuses, [401, 401, 401, 401, 429, 429]);
  await assertRefused(await invented());
  await assertRefused(await post("token", { grant_type: "client_credentials" }));
  assert.equal((await askForToken(wrong(client))).status, 401);
  assert.equal((await askForToken(client)).status, 200);
});

test("a client that asks too much is refused as OAuth refuses, and no other one for it", async () => {
  const [client, other] = [await makeClient(account, administrator), await makeClient(account, administrator)];
  const answers = await Promise.all(Array.from({ length: 60 }, () => askForToken(client)));
  const [refused] = answers.filter(({ status }) => status === 429);
  assert.ok(refused, "60 requests in less than a window are too many");
  await assertRefused(refused);
  assert.equal((await askForToken(other)).status, 200);
});

test("only a page of the client itself may read a refusal of the token endpoint", async () => {
  const [redirect = ""] = application.redirect_uris;
  const form = { grant_type: "refresh_token", refresh_token: "x" };
  const readableBy = async (client_id: string, origin: string) => {
    const refused = await post("token", { ...form, client_id }, { origin });
    assert.ok(refused.status >= 400);
    return refused.headers.get("access-control-allow-origin");
  };
  const own = new URL(redirect).origin;
  assert.equal(await readableBy(application.client_id, own), own);
  assert.equal(await readableBy(application.client_id, "https://evil.example"), null);
  assert.equal(await readableBy("unknown", "https://evil.example"), null);
  const introspected = await post("introspect", { token: "x" }, { origin: "https://evil.example" });
  assert.equal(introspected.headers.get("access-control-allow-origin"), null);
});

test("an application that asks too much is refused for its address, readable for a page in a browser", async () => {
  const { client_id } = application;
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => post("token", { client_id, grant_type: "refresh_token", refresh_token: "x" })),
  );
  const [refused] = answers.filter(({ status }) => status === 429);
  assert.ok(refused);
  assert.equal(refused.headers.get("access-control-allow-origin"), "*");
  await assertRefused(refused);
});
