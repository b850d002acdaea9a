import assert from "node:assert/strict";
import { createPublicKey, type JsonWebKey, verify } from "node:crypto";
import { after, test } from "node:test";
import { createOidcIssuer } from "./oidc-issuer.ts";

const issuer = await createOidcIssuer();
after(() => issuer.close());

type PublishedKey = JsonWebKey & { kid: string; alg: string };

async function read<T>(url: string): Promise<T> {
  return (await (await fetch(url)).json()) as T;
}

async function publishedKeys(): Promise<PublishedKey[]> {
  const discovery = await read<{ issuer: string; jwks_uri: string }>(
    `${issuer.issuer}/.well-known/openid-configuration`,
  );
  assert.equal(discovery.issuer, issuer.issuer);
  return (await read<{ keys: PublishedKey[] }>(discovery.jwks_uri)).keys;
}

const part = (token: string, index: number) =>
  JSON.parse(Buffer.from(token.split(".")[index] ?? "", "base64url").toString());

/** RS256 only: enough to distinguish a valid token of this issuer from the wrong ones. */
async function isGood(token: string): Promise<boolean> {
  const [header, claims, signature] = token.split(".") as [string, string, string];
  const key = (await publishedKeys()).find(({ kid }) => kid === part(token, 0).kid);
  if (!key || part(token, 0).alg !== key.alg) return false;
  const publicKey = createPublicKey({ key, format: "jwk" });
  const valid = verify("sha256", Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, "base64url"));
  return valid && part(token, 1).exp * 1000 > Date.now();
}

test("a signed token verifies against the published key, with the usual claims", async () => {
  const token = issuer.sign({ sub: "ada", scope: "images:read" });
  assert.ok(await isGood(token));
  const { iss, aud, sub, scope } = part(token, 1);
  assert.deepEqual([iss, aud, sub, scope], [issuer.issuer, "signalbox", "ada", "images:read"]);
});

test("every wrong token is wrong", async () => {
  for (const [name, make] of Object.entries(issuer.wrong)) assert.equal(await isGood(make()), false, name);
});

test("after a rotation old tokens hold until their key is withdrawn", async () => {
  const old = issuer.sign();
  issuer.rotate();
  assert.ok(await isGood(old));
  assert.ok(await isGood(issuer.sign()));
  issuer.withdrawOldKeys();
  assert.equal(await isGood(old), false);
  assert.ok(await isGood(issuer.sign()));
});

test("a failing issuer answers with the status it was given", async () => {
  issuer.fail(503);
  assert.equal((await fetch(`${issuer.issuer}/keys`)).status, 503);
  issuer.fail(null);
  assert.equal((await fetch(`${issuer.issuer}/keys`)).status, 200);
});
