import assert from "node:assert/strict";
import { createHmac, hash } from "node:crypto";
import { test } from "node:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { createJwtScheme, type JwtOptions } from "./jwt-scheme.ts";

const nowSeconds = 1_700_000_000;
const issuer = "https://partner.example";
const body = Buffer.from('{"id":"d-1","type":"order.created"}');

/** A partner that signs with jose. */
async function partnerWith(algorithm: string, options: object = {}) {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true, ...options });
  const jwk = { ...(await exportJWK(publicKey)), kid: "k-1" };
  const sign = (claims: object = {}, header: object = {}) =>
    new SignJWT({ iss: issuer, aud: "hub", iat: nowSeconds, exp: nowSeconds + 300, ...claims })
      .setProtectedHeader({ alg: algorithm, kid: "k-1", ...header })
      .sign(privateKey, { crit: { custom: true } });
  return { jwk, sign, set: JSON.stringify({ keys: [jwk] }) };
}

function judge(token: string, set: string, options: Partial<JwtOptions> = {}, sent = body) {
  const scheme = createJwtScheme({ issuer, audience: "hub", ...options });
  const request = { method: "POST", url: "", headers: { authorization: `Bearer ${token}` }, body: sent };
  const verdict = scheme.verify(request, { secrets: [set], nowSeconds, toleranceSeconds: 300 });
  return verdict.verified ? verdict.timestampSeconds : verdict.problem;
}

for (const algorithm of ["RS256", "RS512", "PS256", "PS384", "ES256", "ES384", "ES512", "EdDSA"]) {
  test(`${algorithm}: a token signed with jose verifies with its key only`, async () => {
    const [partner, other] = [await partnerWith(algorithm), await partnerWith(algorithm)];
    const token = await partner.sign();
    assert.equal(judge(token, partner.set), null);
    assert.equal(judge(token, other.set), "token_mismatch");
    assert.equal(judge(token, JSON.stringify({ keys: [{ ...partner.jwk, kid: "k-2" }] })), "key_unknown");
    assert.equal(judge(token, JSON.stringify({ keys: [{ ...partner.jwk, use: "enc" }] })), "key_unknown");
    assert.equal(judge(token, JSON.stringify({ keys: [{ ...partner.jwk, alg: "RS384" }] })), "key_unknown");
    assert.equal(
      judge(token, JSON.stringify({ keys: [other.jwk, { ...partner.jwk, kid: undefined }] })),
      "token_mismatch",
    );
  });
}

test("a token without a key id is verified by any key of the set", async () => {
  const [partner, other] = [await partnerWith("ES256"), await partnerWith("ES256")];
  const token = await partner.sign({}, { kid: undefined });
  assert.equal(judge(token, JSON.stringify({ keys: [other.jwk, partner.jwk] })), null);
  assert.equal(judge(token, other.set), "token_mismatch");
});

test("a token with another audience or issuer, or outside its time, is refused", async () => {
  const { sign, set } = await partnerWith("ES256");
  const told = async (claims: object) => judge(await sign(claims), set);
  assert.equal(await told({ aud: ["another", "hub"] }), null);
  assert.equal(await told({ iss: "https://other.example" }), "issuer_mismatch");
  for (const aud of [undefined, "another", ["another"], "hubs", []])
    assert.equal(await told({ aud }), "audience_mismatch");
  const times: readonly (readonly [object, string | null])[] = [
    [{ exp: nowSeconds - 300 }, null],
    [{ exp: nowSeconds - 301 }, "timestamp_too_old"],
    [{ iat: nowSeconds + 301 }, "timestamp_in_future"],
    [{ nbf: nowSeconds + 301 }, "timestamp_in_future"],
    [{ iat: nowSeconds - 86_400, exp: nowSeconds + 1 }, null],
    [{ iat: nowSeconds - 86_701, exp: nowSeconds + 86_400_000 }, "timestamp_too_old"],
    [{ iat: undefined, exp: nowSeconds + 86_701 }, "timestamp_in_future"],
    [{ iat: nowSeconds - 301, exp: undefined }, "timestamp_too_old"],
    [{ iat: undefined, exp: undefined }, "timestamp_missing"],
    [{ iat: "1700000000" }, "timestamp_malformed"],
    [{ exp: -1 }, "timestamp_malformed"],
  ];
  for (const [claims, outcome] of times) assert.equal(await told(claims), outcome, JSON.stringify(claims));
});

test("with a digest claim only its body is accepted, at a signed time", async () => {
  const { sign, set } = await partnerWith("ES256");
  const encodings = ["hex", "base64", "base64url"] as const;
  for (const bodyDigestEncoding of encodings) {
    const options = { bodyDigestClaim: "request_body_sha256", bodyDigestEncoding };
    const digest = hash("sha256", body, "buffer").toString(bodyDigestEncoding);
    const told = async (claim: unknown, sent = body) =>
      judge(await sign({ request_body_sha256: claim }), set, options, sent);
    assert.equal(await told(digest), nowSeconds);
    assert.equal(await told(digest, Buffer.from(`${body} `)), "body_digest_mismatch");
    for (const wrong of [undefined, null, "", 1, [digest], digest.slice(1), `${digest}0`, hash("sha256", "")])
      assert.equal(await told(wrong), "body_digest_mismatch", String(wrong));
  }
});

test("no key of a partner becomes a shared secret; unsigned or unsupported tokens are refused", async () => {
  const { sign, set, jwk } = await partnerWith("RS256");
  const token = await sign();
  const [, claims = "", signature = ""] = token.split(".");
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const none = encoded({ alg: "none", kid: "k-1" });
  const shared = `${encoded({ alg: "HS256", kid: "k-1" })}.${claims}`;
  const forged = createHmac("sha256", set).update(shared).digest("base64url");
  for (const wrong of [
    ...[`${none}.${claims}.`, `${none}.${claims}.${signature}`, `${shared}.${forged}`],
    ...["", ".", "..", "a.b.c", `${token}.`, `${token}.${signature}`, token.slice(0, token.lastIndexOf("."))],
    ...[
      `${token}=`,
      `${token} `.repeat(2),
      `${encoded([])}.${claims}.${signature}`,
      `${encoded({})}.${claims}.${signature}`,
    ],
    await sign({}, { crit: ["custom"], custom: 1 }),
  ]) {
    assert.match(String(judge(wrong, set)), /^token_(malformed|missing|mismatch)$/, wrong);
  }
  assert.equal(judge(token, JSON.stringify({ keys: [{ ...jwk, n: String(jwk.n).slice(0, 100) }] })), "key_unknown");
  for (const unusable of ["", "{}", '{"keys":[]}', "[]", "https://partner.example/keys"])
    assert.equal(judge(token, unusable), "secret_unusable", unusable);
});

test("the secret is a key set or its URL; any other is refused with the reason", async () => {
  const { set } = await partnerWith("ES256");
  const { secretProblem, keysAt } = createJwtScheme();
  for (const right of [set, "https://partner.example/keys"]) assert.equal(secretProblem(right), null);
  for (const wrong of ["", "a secret of 16 bytes", "{}", '{"keys":[]}', "ftp://partner.example/keys"])
    assert.match(secretProblem(wrong) ?? "", /is the address of the sender's JWKS/, wrong);
  for (const wrong of [
    "https://",
    "https://a b/",
    "https://user:password@partner.example/keys",
    "https://a.example/#b",
  ])
    assert.match(secretProblem(wrong) ?? "", /^The address of the JWKS /, wrong);
  assert.equal(keysAt?.("https://partner.example/keys"), "https://partner.example/keys");
  assert.equal(keysAt?.(set), null);
});
