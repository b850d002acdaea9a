import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Clock, createManualClock, isAppError, minutes, seconds } from "@signalbox/core";
import { createOidcIssuer, type OidcIssuer } from "@signalbox/testing";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { credentialBytesMax } from "./credential.ts";
import { builtInIssuer, ownRoleNames, parseIssuers } from "./issuers.ts";
import { createTokenVerifier } from "./token-verifier.ts";

let issuer: OidcIssuer;
let other: OidcIssuer;

before(async () => {
  [issuer, other] = await Promise.all([createOidcIssuer(), createOidcIssuer()]);
});
after(() => Promise.all([issuer.close(), other.close()]));

/** The clock of the test starts at the real time, because the issuer signs with it. */
function given({
  trusted = [issuer],
  clock = createManualClock(new Date()) as Clock,
  areOurs = false,
  more = {},
} = {}) {
  const failures: unknown[] = [];
  const skipped: string[] = [];
  const issuers = parseIssuers(
    JSON.stringify(trusted.map(({ issuer, audience }, at) => ({ name: `issuer-${at}`, issuer, audience, ...more }))),
  );
  const verifier = createTokenVerifier({
    issuers: areOurs ? issuers.map((one) => ({ ...one, name: builtInIssuer })) : issuers,
    clock,
    clockSkewSeconds: 30,
    maxAgeSeconds: 86_400,
    onKeysFailure: (_issuer, error) => failures.push(error),
    onKeysSkipped: (issuer, places) => skipped.push(`${issuer}: ${places}`),
  });
  return { verify: verifier.verify, failures, skipped };
}

const refused = (error: unknown) => isAppError(error) && error.code === "unauthorized";
const unavailable = (error: unknown) => isAppError(error) && error.code === "unavailable";
const secondsFromNow = (count: number) => Math.floor(Date.now() / 1000) + count;

test("a valid token yields subject, scopes, expiry and sign-in time", async () => {
  const { verify } = given();
  const exp = secondsFromNow(300);
  const token = await verify(
    issuer.sign({ sub: "ada", jti: "one", auth_time: 1_700_000_000, exp, scope: "images:read" }),
  );
  assert.equal(token.issuer, "issuer-0");
  assert.equal(token.subject, "ada");
  assert.equal(token.id, "jti:issuer-0:one");
  assert.equal(token.authTimeMs, 1_700_000_000_000);
  assert.equal(token.expiresAt.getTime(), (exp + 30) * 1000);
  assert.deepEqual([...token.scopes], ["images:read"]);
});

test("a sign-in time in the future or out of range is not a recent sign-in", async () => {
  const { verify } = given();
  const now = secondsFromNow(0);
  for (const authTime of [now + 120, 253_402_300_800, 8.64e12 + 1, 1e300, -1, -8.64e12 - 1, "1700000000", null, true]) {
    const token = await verify(issuer.sign({ sub: "ada", auth_time: authTime }));
    assert.equal(token.authTimeMs, null, String(authTime));
  }
});

test("a sign-in may be ahead of our clock by the configured skew", async () => {
  const { verify } = given();
  const authTime = secondsFromNow(20);
  assert.equal((await verify(issuer.sign({ sub: "ada", auth_time: authTime }))).authTimeMs, authTime * 1000);
});

test("a token with too long a lifetime is refused, with or without an issue time", async () => {
  const { verify } = given();
  const now = secondsFromNow(0);
  for (const [iat, exp] of [
    [now, now + 86_400],
    [now - 82_800, now + 3600],
    [undefined, now + 86_400],
  ]) {
    await verify(issuer.sign({ iat, exp }));
  }
  for (const [iat, exp] of [
    [now, now + 86_401],
    [now - 82_800, now + 3601],
    [undefined, now + 86_500],
    [now, 8.64e12],
    [now, 1e300],
  ]) {
    await assert.rejects(verify(issuer.sign({ iat, exp })), /lifetime is longer/, `${iat} ${exp}`);
  }
});

test("a token that was issued in the future is refused, beyond the configured skew", async () => {
  const { verify } = given();
  await verify(issuer.sign({ iat: secondsFromNow(20) }));
  await assert.rejects(verify(issuer.sign({ iat: secondsFromNow(40) })), /in the future/);
  await assert.rejects(verify(issuer.sign({ iat: "now" })), refused);
});

test("a token with an unusable jti is named after its subject", async () => {
  const { verify } = given();
  for (const jti of ["", "a\u0000b", "j".repeat(256), 7]) {
    assert.equal((await verify(issuer.sign({ sub: "ada", jti }))).id, "sub:issuer-0:ada");
  }
});

test("every token has a name of its own, even without a jti", async () => {
  const { verify } = given();
  const signed = (claims: object) => issuer.sign({ sub: "ada", jti: undefined, ...claims });
  const nameOf = async (token: string) => (await verify(token)).tokenId;
  const first = signed({ exp: secondsFromNow(100) });
  assert.match(await nameOf(first), /^digest:issuer-0:[\w-]{43}$/);
  assert.equal(await nameOf(first), await nameOf(first));
  assert.notEqual(await nameOf(first), await nameOf(signed({ exp: secondsFromNow(101) })));
  assert.equal(await nameOf(signed({ jti: "one" })), "jti:issuer-0:one");
});

for (const flaw of ["unsigned", "foreignKey", "confused", "expired", "tampered", "truncated"] as const) {
  test(`a token that is ${flaw} is refused`, async () => {
    const { verify } = given();
    await assert.rejects(verify(issuer.wrong[flaw]()), refused);
  });
}

for (const [what, claims] of Object.entries({
  "for another audience": { aud: "somebody-else" },
  "that names no audience": { aud: undefined },
  "without an end": { exp: undefined },
  "whose end is no number": { exp: "tomorrow" },
  "that is not valid yet": { nbf: secondsFromNow(120) },
  "without a subject": { sub: undefined },
  "with an empty subject": { sub: "" },
  "with a subject of 256 characters": { sub: "s".repeat(256) },
  "with a subject that cannot be stored": { sub: "a\u0000b" },
  "with a list as its subject": { sub: ["ada"] },
  "with a number as its subject": { sub: 7 },
})) {
  test(`a token ${what} is refused`, async () => {
    const { verify } = given();
    await assert.rejects(verify(issuer.sign(claims)), refused);
  });
}

test("clocks may differ by the configured skew only", async () => {
  const { verify } = given();
  await verify(issuer.sign({ nbf: secondsFromNow(20) }));
  await verify(issuer.sign({}, { expiresInSeconds: -20 }));
  await assert.rejects(verify(issuer.sign({}, { expiresInSeconds: -40 })), refused);
});

test("a token of the built-in issuer is valid exactly until it expires", async () => {
  const clock = createManualClock(new Date());
  const { verify } = given({ areOurs: true, clock });
  const exp = secondsFromNow(60);
  const token = issuer.sign({ sub: "ada", exp });
  assert.equal((await verify(token)).expiresAt.getTime(), exp * 1000);
  clock.advance(seconds(60));
  await assert.rejects(verify(token), refused);
});

test("a token for another purpose is refused, even if its audience matches", async () => {
  const { verify } = given();
  await assert.rejects(verify(issuer.sign({ nonce: "n-0S6_WzA2Mj" })), refused);
  await assert.rejects(verify(issuer.sign({}, { header: { typ: "logout+jwt" } })), refused);
  await verify(issuer.sign({ typ: "Bearer" }, { header: { typ: "JWT" } }));
});

test("only the canonical spelling of a token is accepted", async () => {
  const signer = await createOidcIssuer();
  signer.rotate("ES256");
  const { verify } = given({ trusted: [signer] });
  const token = signer.sign();
  await verify(token);
  // Four of the last letter's six bits carry no information.
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = letters.indexOf(token.slice(-1));
  const others = Array.from(letters.slice(last + 1, last + 16), (letter) => token.slice(0, -1) + letter);
  assert.equal(others.length, 15);
  for (const other of [...others, `${token}=`, `${token}==`, `${token} `, `${token}\n`]) {
    await assert.rejects(verify(other), refused, other.slice(-4));
  }
  await signer.close();
});

test("a key inside the token is not used", async () => {
  const { verify } = given();
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const header = { alg: "RS256", typ: "at+jwt", jwk: await exportJWK(publicKey) };
  const claims = { iss: issuer.issuer, aud: issuer.audience, sub: "ada", exp: secondsFromNow(300) };
  await assert.rejects(verify(await new SignJWT(claims).setProtectedHeader(header).sign(privateKey)), refused);
});

test("a token of an issuer that is not configured is refused without asking it", async () => {
  const { verify } = given();
  const before = other.requests.length;
  await assert.rejects(verify(other.sign()), refused);
  assert.equal(other.requests.length, before);
});

test("the key of one trusted issuer does not verify tokens of another", async () => {
  const clock = createManualClock(new Date());
  const { verify } = given({ trusted: [issuer, other], clock });
  await verify(other.sign());
  await verify(issuer.sign());
  clock.advance(seconds(5));
  await assert.rejects(verify(other.sign({ iss: issuer.issuer })), refused);
});

for (const text of ["", "x", "a.b.c", "..", "e30.e30.", `${"a".repeat(credentialBytesMax)}.b.c`]) {
  test(`rubbish of ${text.length} characters (${text.slice(0, 8)}) is refused`, async () => {
    const { verify } = given();
    await assert.rejects(verify(text), refused);
  });
}

/** Names the outcome of a token. */
const outcomeOf = (verified: Promise<unknown>) =>
  verified.then(
    () => "accepted",
    (error: unknown) => (isAppError(error) ? `${error.code} ${error.retryAfterSeconds ?? ""}`.trim() : error),
  );

test("a token under a new key is accepted once the key set was read again", async () => {
  const rotating = await createOidcIssuer();
  const clock = createManualClock(new Date());
  const { verify } = given({ trusted: [rotating], clock });
  await verify(rotating.sign());
  rotating.rotate("ES256");
  clock.advance(seconds(2));
  assert.equal(await outcomeOf(verify(rotating.sign())), "unavailable 3");
  clock.advance(seconds(3));
  assert.equal(await outcomeOf(verify(rotating.sign())), "accepted");
  await rotating.close();
});

test("an invented key id is refused once the newest keys lack it", async () => {
  const clock = createManualClock(new Date());
  const { verify } = given({ clock });
  await verify(issuer.sign());
  clock.advance(seconds(5));
  await assert.rejects(verify(issuer.sign({}, { header: { kid: "made-up" } })), refused);
});

test("invented key ids make us ask the issuer once in five seconds", async () => {
  const clock = createManualClock(new Date());
  const { verify } = given({ clock });
  await verify(issuer.sign());
  const before = issuer.requests.length;
  const inventions = () =>
    Array.from({ length: 20 }, (_, at) => outcomeOf(verify(issuer.sign({}, { header: { kid: `made-up-${at}` } }))));
  assert.deepEqual(new Set(await Promise.all(inventions())), new Set(["unavailable 5"]));
  assert.equal(issuer.requests.length, before);
  clock.advance(seconds(5));
  await Promise.all(inventions());
  assert.equal(issuer.requests.length, before + 2, "discovery and keys");
});

test("an invented key id hides a rotation for five seconds at most", async () => {
  const rotating = await createOidcIssuer();
  const clock = createManualClock(new Date());
  const { verify } = given({ trusted: [rotating], clock });
  await verify(rotating.sign());
  clock.advance(minutes(1));
  await assert.rejects(verify(rotating.sign({}, { header: { kid: "made-up" } })), refused);
  rotating.rotate("ES256");
  assert.equal(await outcomeOf(verify(rotating.sign())), "unavailable 5");
  clock.advance(seconds(5));
  assert.equal(await outcomeOf(verify(rotating.sign())), "accepted");
  await rotating.close();
});

test("a new key of an issuer that is away is no fault of the token", async () => {
  const failing = await createOidcIssuer();
  const clock = createManualClock(new Date());
  const { verify } = given({ trusted: [failing], clock });
  await verify(failing.sign());
  failing.rotate();
  failing.fail(500);
  clock.advance(minutes(1));
  await assert.rejects(verify(failing.sign()), unavailable);
  await failing.close();
});

test("malformed keys of an issuer are left out", async () => {
  const odd = await createOidcIssuer();
  odd.publish([{ kid: "a", n: "AQAB" }, null, "x", 7, [], { kty: "future", kid: "b" }]);
  const clock = createManualClock(new Date());
  const { verify, failures, skipped } = given({ trusted: [odd], clock });
  await verify(odd.sign());
  clock.advance(minutes(11));
  await verify(odd.sign({ exp: secondsFromNow(3000) }));
  assert.deepEqual([failures, skipped], [[], ["issuer-0: 0,1,2,3,4"]]);
  await odd.close();
});

/** The key that an issuer publishes first. */
async function publishedKey({ issuer }: OidcIssuer): Promise<{ kid: string }> {
  const { keys } = (await (await fetch(`${issuer}/keys`)).json()) as { readonly keys: readonly { kid: string }[] };
  return keys[0] ?? assert.fail("the issuer publishes no key");
}

test("a key id that is published twice verifies the tokens of either key", async () => {
  const odd = await createOidcIssuer();
  const { kid } = await publishedKey(odd);
  odd.publish([
    { ...(await publishedKey(other)), kid },
    { kty: "RSA", kid, n: 5, e: null },
  ]);
  const { verify } = given({ trusted: [odd] });
  await verify(odd.sign());
  await verify(other.sign({ iss: odd.issuer }, { header: { kid } }));
  await odd.close();
});

test("a token without a key id is tried with eight of the keys that fit it at most", async () => {
  const odd = await createOidcIssuer();
  const foreign = await publishedKey(other);
  const unnamed = () => odd.sign({}, { header: { kid: undefined } });
  for (const [count, outcome] of [
    [7, "accepted"],
    [8, "unauthorized"],
  ] as const) {
    odd.publish(Array.from({ length: count }, (_, at) => ({ ...foreign, kid: `foreign-${at}` })));
    assert.equal(await outcomeOf(given({ trusted: [odd] }).verify(unnamed())), outcome);
  }
  await odd.close();
});

test("a key without usable numbers refuses only the tokens that name it", async () => {
  const odd = await createOidcIssuer();
  odd.publish([
    { kty: "RSA", kid: "number", n: 5, e: null },
    { kty: "RSA", kid: "empty" },
  ]);
  const { verify } = given({ trusted: [odd] });
  await verify(odd.sign());
  for (const kid of ["number", "empty"]) await assert.rejects(verify(odd.sign({}, { header: { kid } })), refused, kid);
  await odd.close();
});

test("a key set that is too large leaves the last keys in use", async () => {
  const odd = await createOidcIssuer();
  const clock = createManualClock(new Date());
  const { verify, failures } = given({ trusted: [odd], clock });
  const token = odd.sign({ exp: secondsFromNow(7200) });
  await verify(token);
  odd.publish(Array.from({ length: 10_000 }, (_, at) => ({ kty: "RSA", kid: `${at}`, n: "A".repeat(342), e: "AQAB" })));
  clock.advance(minutes(11));
  await verify(token);
  assert.match(String(failures), /more than 524288 bytes/);
  await odd.close();
});

test("a key set without a key leaves the last keys in use", async () => {
  const odd = await createOidcIssuer();
  const clock = createManualClock(new Date());
  const { verify, failures } = given({ trusted: [odd], clock });
  const token = odd.sign({ exp: secondsFromNow(7200) });
  await verify(token);
  odd.fail(200);
  clock.advance(minutes(11));
  await verify(token);
  assert.equal(failures.length, 1);
  await odd.close();
});

for (const algorithm of ["EdDSA", "Ed25519"]) {
  test(`a token signed with Ed25519 is accepted by the name ${algorithm}`, async () => {
    const edwards = await createOidcIssuer({ algorithm: "EdDSA" });
    for (const more of [{}, { algorithms: ["EdDSA"] }]) {
      const { verify } = given({ trusted: [edwards], more });
      await verify(edwards.sign({}, { header: { alg: algorithm } }));
    }
    await edwards.close();
  });
}

test("an issuer whose tokens lack an audience names the claim that stands for it", async () => {
  const { verify } = given({ more: { audience: ["app-1", "app-2"], "audience-claim": "client_id" } });
  const cognito = { aud: undefined, token_use: "access" };
  await verify(issuer.sign({ ...cognito, client_id: "app-2" }));
  await assert.rejects(verify(issuer.sign({ ...cognito, client_id: "app-3" })), /for another audience/);
  await assert.rejects(verify(issuer.sign(cognito)), /for another audience/);
  await assert.rejects(verify(issuer.sign({ ...cognito, client_id: "app-2", token_use: "id" })), refused);
});

test("while an issuer is away, its known keys keep verifying beyond their age", async () => {
  const failing = await createOidcIssuer();
  const clock = createManualClock(new Date());
  const { verify, failures } = given({ trusted: [failing], clock });
  const token = failing.sign({ exp: secondsFromNow(7200) });
  await verify(token);
  failing.fail(500);
  clock.advance(minutes(11));
  await verify(token);
  assert.equal(failures.length, 1);
  await failing.close();
});

test("tokens of an issuer that was never reached are unavailable, not refused", async () => {
  const away = await createOidcIssuer();
  const clock = createManualClock(new Date());
  away.fail(503);
  const { verify } = given({ trusted: [away], clock });
  await assert.rejects(verify(away.sign()), unavailable);
  away.fail(null);
  clock.advance(seconds(1));
  await verify(away.sign());
  await away.close();
});

test("the keys of an issuer in this process are read at each token, without a request", async () => {
  const [first, second] = await Promise.all([signingKey("1"), signingKey("2")]);
  let published = { keys: [first.publicJwk] };
  const verifier = createTokenVerifier({
    issuers: [ownIssuer],
    clock: createManualClock(new Date()),
    clockSkewSeconds: 30,
    maxAgeSeconds: 86_400,
    onKeysFailure: () => assert.fail("nothing is fetched"),
    onKeysSkipped: () => assert.fail("nothing is fetched"),
    localKeys: { signalbox: () => published },
  });
  assert.equal((await verifier.verify(await first.sign())).subject, "ada");
  await assert.rejects(verifier.verify(await second.sign()), refused);
  published = { keys: [second.publicJwk] };
  await verifier.verify(await second.sign());
  await assert.rejects(verifier.verify(await first.sign()), refused);
});

const ownIssuer = {
  provision: "any" as const,
  name: builtInIssuer,
  issuer: "https://signalbox.example/oauth",
  audience: "https://signalbox.example",
  "audience-claim": "aud",
  algorithms: ["ES256" as const],
  roles: ownRoleNames,
};

async function signingKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const claims = { iss: ownIssuer.issuer, aud: ownIssuer.audience, sub: "ada", exp: secondsFromNow(300) };
  return {
    publicJwk: { ...(await exportJWK(publicKey)), kid },
    sign: () => new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid }).sign(privateKey),
  };
}
