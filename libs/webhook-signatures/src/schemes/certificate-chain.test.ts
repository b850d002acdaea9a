import assert from "node:assert/strict";
import { generateKeyPairSync, hash, type KeyObject, sign } from "node:crypto";
import { test } from "node:test";
import { presets } from "../presets/presets.ts";
import { schemeOf } from "./schemes.ts";

const nowSeconds = 1_700_000_000;
const dayMs = 86_400_000;
const [signerOid, authorityOid] = ["1.2.840.113635.100.6.11.1", "1.2.840.113635.100.6.2.1"];

/** Writes an item of DER (X.690 §8). */
function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const length = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function oid(text: string): Buffer {
  const [top = 0, second = 0, ...rest] = text.split(".").map(Number);
  const arcs = [top * 40 + second, ...rest].map((arc) => {
    const bytes = [arc % 128];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) bytes.unshift((left % 128) + 128);
    return Buffer.from(bytes);
  });
  return der(0x06, ...arcs);
}

const name = (text: string) => der(0x30, der(0x31, der(0x30, oid("2.5.4.3"), der(0x0c, Buffer.from(text)))));
const time = (ms: number) =>
  der(0x18, Buffer.from(`${new Date(ms).toISOString().replaceAll(/[-:T]/g, "").slice(0, 14)}Z`));
const ecdsa = der(0x30, oid("1.2.840.10045.4.3.2"));
const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

interface Identity {
  readonly name: string;
  readonly keys: ReturnType<typeof newKeys>;
}

interface Change {
  readonly oids?: readonly string[];
  readonly isAuthority?: boolean;
  readonly endsMs?: number;
}

function certificate(subject: Identity, issuer: Identity, { oids = [], isAuthority = false, endsMs }: Change): Buffer {
  const extensions = [
    ...(isAuthority ? [der(0x30, oid("2.5.29.19"), der(0x04, der(0x30, der(0x01, Buffer.from([0xff])))))] : []),
    ...oids.map((one) => der(0x30, oid(one), der(0x04, der(0x05)))),
  ];
  const signed = der(
    0x30,
    ...[der(0xa0, der(0x02, Buffer.from([2]))), der(0x02, hash("sha256", subject.name, "buffer").fill(1, 0, 1))],
    ...[ecdsa, name(issuer.name)],
    der(0x30, time(nowSeconds * 1_000 - dayMs), time(endsMs ?? nowSeconds * 1_000 + dayMs)),
    ...[name(subject.name), subject.keys.publicKey.export({ format: "der", type: "spki" })],
    ...(extensions.length > 0 ? [der(0xa3, der(0x30, ...extensions))] : []),
  );
  const signature = sign("sha256", signed, issuer.keys.privateKey);
  return der(0x30, signed, ecdsa, der(0x03, Buffer.from([0]), signature));
}

/** Issues a chain like the App Store's, changed as told. */
function issueChain(change: Readonly<Partial<Record<"signer" | "authority" | "root", Change>>> = {}) {
  const [root, authority, signer] = ["root", "authority", "signer"].map((one) => ({ name: one, keys: newKeys() })) as [
    Identity,
    Identity,
    Identity,
  ];
  const chain = [
    certificate(signer, authority, { oids: [signerOid], ...change.signer }),
    certificate(authority, root, { oids: [authorityOid], isAuthority: true, ...change.authority }),
    certificate(root, root, { isAuthority: true, ...change.root }),
  ] as const;
  return { x5c: chain.map((one) => one.toString("base64")), key: signer.keys.privateKey, root: fingerprint(chain[2]) };
}

const fingerprint = (certificateDer: Buffer) => hash("sha256", certificateDer);
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const notification = {
  notificationType: "DID_RENEW",
  notificationUUID: "002e14d5-51f5-4503-b5a8-c3a1af68eb20",
  version: "2.0",
  signedDate: nowSeconds * 1_000,
  data: { bundleId: "com.example.hub", environment: "Production" },
};

function signedPayload(key: KeyObject, x5c: unknown, claims: object = notification, alg = "ES256"): string {
  const signed = `${encoded({ alg, x5c })}.${encoded(claims)}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

const scheme = schemeOf("jwt", { ...presets["app-store"].settings, audience: "com.example.hub" });

function judged(token: string, root: string, atSeconds = nowSeconds): string {
  const body = Buffer.from(JSON.stringify({ signedPayload: token }));
  const request = { method: "POST", url: "", headers: {}, body };
  const verdict = scheme.verify(request, { secrets: [root], nowSeconds: atSeconds, toleranceSeconds: 300 });
  return verdict.verified ? "verified" : verdict.problem;
}

test("a chain of three certificates to the source's root verifies its token", () => {
  const { x5c, key, root } = issueChain();
  const token = signedPayload(key, x5c);
  assert.equal(judged(token, root), "verified");
  assert.equal(judged(token, (root.toUpperCase().match(/../g) ?? []).join(":")), "verified");
  assert.equal(judged(token, issueChain().root), "certificate_not_allowed");
  assert.equal(judged(`${token.slice(0, -4)}AAAA`, root), "token_mismatch");
  assert.equal(judged(signedPayload(newKeys().privateKey, x5c), root), "token_mismatch");
});

test("a certificate of another purpose under the same root signs nothing", () => {
  for (const [change, problem] of [
    [{ signer: { oids: [] } }, "certificate_not_allowed"],
    [{ signer: { oids: [authorityOid] } }, "certificate_not_allowed"],
    [{ authority: { oids: [] } }, "certificate_not_allowed"],
    [{ authority: { isAuthority: false } }, "certificate_not_allowed"],
    [{ root: { isAuthority: false } }, "certificate_not_allowed"],
    [{ signer: { endsMs: (nowSeconds - 1) * 1_000 } }, "certificate_unusable"],
    [{ root: { endsMs: (nowSeconds - 1) * 1_000 } }, "certificate_unusable"],
    [{}, "verified"],
  ] as const) {
    const { x5c, key, root } = issueChain(change);
    assert.equal(judged(signedPayload(key, x5c), root), problem, JSON.stringify(change));
  }
});

test("a chain that is shorter, longer, mixed or no chain is refused", () => {
  const [{ x5c, key, root }, other] = [issueChain(), issueChain()];
  const [signer = "", authority = "", top = ""] = x5c;
  for (const chain of [
    ...[undefined, null, "", [], {}, [signer], [signer, top], [signer, authority], [...x5c, top], [null, null, null]],
    ...[[signer, authority, `${top}AAAA`.padEnd(9_000, "A")], ["", "", ""], x5c.map(() => "AAAA")],
  ])
    assert.equal(judged(signedPayload(key, chain), root), "certificate_unusable", JSON.stringify(chain)?.slice(0, 80));
  for (const chain of [[signer, other.x5c[1], top], [authority, signer, top], [signer, top, top], x5c.toReversed()])
    assert.equal(judged(signedPayload(key, chain), root), "certificate_not_allowed");
});

test("a token's algorithm fits the signer's key", () => {
  const { x5c, key, root } = issueChain();
  for (const alg of ["RS256", "ES384", "EdDSA"])
    assert.equal(judged(signedPayload(key, x5c, notification, alg), root), "key_unknown", alg);
  for (const alg of ["HS256", "none"])
    assert.equal(judged(signedPayload(key, x5c, notification, alg), root), "token_malformed", alg);
});

test("a notification for another app is refused", () => {
  const { x5c, key, root } = issueChain();
  const bundleId = "com.example.hub";
  for (const [claims, problem] of [
    [{ summary: { bundleId } }, "verified"],
    [{ externalPurchaseToken: { bundleId } }, "verified"],
    [{ data: { bundleId: "com.example.other" } }, "audience_mismatch"],
    [{ data: { bundleId: "com.example.other" }, bundleId }, "audience_mismatch"],
    [{ aud: bundleId }, "audience_mismatch"],
  ] as const)
    assert.equal(judged(signedPayload(key, x5c, claims), root), problem, JSON.stringify(claims));
});

test("only the fingerprint of a root is a secret of this kind", () => {
  const { root } = issueChain();
  for (const right of [root, root.toUpperCase()]) assert.equal(scheme.secretProblem(right), null);
  for (const wrong of [
    "",
    "a text that somebody chose",
    root.slice(2),
    `${root}00`,
    "https://appleid.apple.com/auth/keys",
  ])
    assert.match(scheme.secretProblem(wrong) ?? "", /fingerprint/, wrong);
  assert.equal(scheme.keysAt, undefined);
});
