import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as openid from "openid-client";
import type { Harness } from "./harness.ts";
import { claimsOf, discover, issuer, makeClient, startIssuer, through } from "./oauth-fixture.ts";
import { application, applications, createVisitor, signedIn, startSignIn } from "./oauth-visitor.ts";

let account: Harness;
let advertised: Record<string, string | string[]>;
before(async () => {
  const other = { client_id: "house", name: "House", redirect_uris: ["https://house.example/back"] };
  const all = JSON.stringify([...JSON.parse(applications), other]);
  account = await startIssuer({ "account.oauth.applications": all });
  advertised = (await account.send("GET", "/oauth/.well-known/openid-configuration")).body;
});
after(() => account.close());

const values = (name: string) => advertised[name] as string[];

test("every advertised endpoint is there", async () => {
  for (const [name, url] of Object.entries(advertised)) {
    if (!name.endsWith("_endpoint") && name !== "jwks_uri") continue;
    const answer = await through(account)(String(url), { method: "OPTIONS" });
    assert.equal(answer.status, 204, name);
  }
});

test("no advertised grant type is unknown at the token endpoint", async () => {
  for (const grant_type of values("grant_types_supported")) {
    const body = new URLSearchParams({ grant_type, client_id: application.client_id });
    const answer = await through(account)(`${issuer}/token`, { method: "POST", body });
    assert.notEqual(((await answer.json()) as { error: string }).error, "unsupported_grant_type", grant_type);
  }
});

test("an answer comes by each advertised response mode", async () => {
  for (const response_mode of values("response_modes_supported")) {
    const { url } = await startSignIn(account, { more: { response_mode, prompt: "none" } });
    const { url: back, text } = await createVisitor(account).open(url);
    const told = { query: back.search, fragment: back.hash, form_post: text }[response_mode] ?? "";
    assert.match(told, /login_required/, response_mode);
  }
});

test("each advertised response type and scope leads to a sign-in", async () => {
  for (const response_type of values("response_types_supported")) {
    const { url } = await startSignIn(account, {
      scope: values("scopes_supported").join(" "),
      more: { response_type },
    });
    assert.match((await createVisitor(account).open(url)).url.pathname, /\/sign-in\//);
  }
});

test("an algorithm is advertised for ID tokens if a key of it is published", async () => {
  const answer = await through(account)(String(advertised.jwks_uri));
  const { keys } = (await answer.json()) as { keys: { alg: string }[] };
  const published = keys.map(({ alg }) => alg).sort();
  assert.deepEqual([...values("id_token_signing_alg_values_supported")].sort(), published);
});

test("each advertised claim is in a person's ID token or userinfo", async () => {
  const scope = values("scopes_supported").join(" ");
  const person = await signedIn(account, { scope, more: { max_age: "600" } });
  const told = await openid.fetchUserInfo(person.configuration, person.access_token, openid.skipSubjectCheck);
  const claims = { ...claimsOf(person.id_token ?? ""), ...told };
  assert.deepEqual(
    values("claims_supported").filter((name) => !(name in claims)),
    [],
  );
});

test("each advertised language is one of the pages", async () => {
  for (const ui_locales of values("ui_locales_supported")) {
    const { url } = await startSignIn(account, { more: { ui_locales } });
    const { text } = await createVisitor(account).open(url);
    assert.equal(/<html lang="([^"]+)"/.exec(text)?.[1], ui_locales);
  }
});

test("a client authenticates by each advertised method", async () => {
  const administrator = { "x-api-key": await account.firstKey() };
  const { id, secret } = await makeClient(account, administrator, ["account:read"]);
  const methods: Readonly<Record<string, () => Promise<unknown>>> = {
    client_secret_basic: async () =>
      openid.clientCredentialsGrant(await discover(account, id, openid.ClientSecretBasic(secret))),
    client_secret_post: async () =>
      openid.clientCredentialsGrant(await discover(account, id, openid.ClientSecretPost(secret))),
    none: () => signedIn(account),
  };
  assert.deepEqual(values("token_endpoint_auth_methods_supported").sort(), Object.keys(methods).sort());
  for (const grant of Object.values(methods)) await grant();
});

test("a person has the same subject in every application, as the advertised subject type says", async () => {
  assert.deepEqual(values("subject_types_supported"), ["public"]);
  const { visitor, idClaims } = await signedIn(account);
  const { url, finish } = await startSignIn(account, { client: "house", redirect: "https://house.example/back" });
  assert.equal((await finish((await visitor.open(url)).url)).claims()?.sub, idClaims?.sub);
});
