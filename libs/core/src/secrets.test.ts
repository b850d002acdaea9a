import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isSecretName, masked, maskText } from "./secrets.ts";

const base62Text = fc.stringMatching(/^[A-Za-z0-9]{12,40}$/);
const prose = fc.stringMatching(/^[a-z ,.]{0,30}$/);
const userInfo = fc.stringMatching(/^[A-Za-z0-9!$&'"()*+,;=:._~@%-]{8,40}$/);

const secretTexts = fc.oneof(
  base62Text.map((secret) => ({ secret, text: `sbx_live_${secret}` })),
  base62Text.map((secret) => ({ secret, text: `whsec_${secret}` })),
  base62Text.map((secret) => ({ secret, text: `whsk_${secret}` })),
  fc
    .tuple(
      fc.constantFrom(
        "sk_",
        "sk_live_",
        "rk_live_",
        "sk-",
        "ghp_",
        "gho_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "npm_",
        "AIza",
      ),
      base62Text,
    )
    .map(([prefix, secret]) => ({ secret, text: prefix + secret })),
  fc.stringMatching(/^[A-Z0-9]{16}$/).map((secret) => ({ secret, text: `AKIA${secret}` })),
  base62Text.map((secret) => ({ secret, text: `Bearer ${secret}` })),
  base62Text.map((secret) => ({ secret, text: `eyJhbGciOi${secret}.${secret}.${secret}` })),
  base62Text.map((secret) => ({
    secret,
    text: `-----BEGIN RSA PRIVATE KEY-----\n${secret}\n-----END RSA PRIVATE KEY-----`,
  })),
  base62Text.map((secret) => ({ secret, text: `-----BEGIN PRIVATE KEY-----\n${secret}` })),
  base62Text.map((secret) => ({ secret, text: `password=${secret}` })),
  base62Text.map((secret) => ({ secret, text: `{"client_secret": "${secret}"}` })),
  base62Text.map((secret) => ({ secret, text: `Basic ${Buffer.from(`someone:${secret}`).toString("base64")}` })),
  userInfo.map((secret) => ({ secret, text: `postgres://${secret}@db.example:5432/account` })),
  userInfo.map((secret) => ({ secret, text: `https://someone:${secret}@example.com/path?x=1` })),
);

test("no secret with a recognisable form leaves a text, in any surroundings", () => {
  fc.assert(
    fc.property(prose, secretTexts, prose, (before, { secret, text }, after) => {
      const shown = maskText(`${before} ${text} ${after}`);
      assert.ok(!shown.includes(secret), shown);
      assert.ok(shown.includes(masked), shown);
    }),
    { numRuns: 2000 },
  );
});

test("the credentials of Basic authentication are hidden in their encoded form", () => {
  const encoded = Buffer.from("aladdin:open sesame").toString("base64");
  assert.equal(maskText(`authorization: Basic ${encoded}`), "authorization: Basic ******");
});

test("ordinary texts and the host of a URL stay readable", () => {
  for (const text of [
    "the npm_config_registry of a task_list",
    "Basic authentication is off",
    "GET /images/img_1?width=320",
    "https://example.com/a/@b",
  ]) {
    assert.equal(maskText(text), text);
  }
  assert.equal(maskText("redis://u:p@cache:6379/0"), "redis://******@cache:6379/0");
});

test("masking a hostile text takes time proportional to its length", () => {
  for (const unit of ["eyJ", "://", "-----BEGIN ", "a.", "password ", "Bearer ", "basic ", "sbx_"]) {
    const started = performance.now();
    maskText(`${unit.repeat(200_000 / unit.length)}!`);
    assert.ok(performance.now() - started < 1000, unit);
  }
});

test("a name with the ending of a secret is one", () => {
  for (const name of ["database.password", "s3.secret-key", "internal.token", "API_KEY", "oauth.credentials.file"]) {
    assert.ok(isSecretName(name), name);
  }
  for (const name of ["http.port", "tokenizer", "limits.pageSize"]) assert.ok(!isSecretName(name), name);
});
