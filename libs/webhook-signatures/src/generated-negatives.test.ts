import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync, hash, sign } from "node:crypto";
import { test } from "node:test";
import type { Preset } from "./presets/preset.ts";
import { presets } from "./presets/presets.ts";
import { hmac } from "./schemes/digest.ts";
import { createEd25519Scheme } from "./schemes/ed25519-scheme.ts";
import { createHmacScheme, type HmacOptions } from "./schemes/hmac-scheme.ts";
import { createJwtScheme } from "./schemes/jwt-scheme.ts";
import { schemeOf } from "./schemes/schemes.ts";
import type { SignatureScheme, SignedRequest } from "./schemes/signature-scheme.ts";
import { createTokenScheme } from "./schemes/token-scheme.ts";

/** A request that verifies, from which the wrong ones are derived. */
interface Case {
  readonly title: string;
  readonly scheme: SignatureScheme;
  readonly secret: string;
  /** Header with the signature or the token. */
  readonly header: string;
  readonly request: SignedRequest & { readonly headers: Readonly<Record<string, string>> };
  readonly nowSeconds: number;
  readonly certificate?: string;
  /** False for a plain token, which does not cover the body. */
  readonly coversBody: boolean;
}

const seconds = 1_700_000_000;
const url = "https://hub.example/ingest/src_1?tag=7";
const body = Buffer.from('{"id":"evt_1","type":"order.created"}');
const textSecret = "a secret with 16 bytes and more";
const hexSecret = "000102030405060708090a0b0c0d0e0f1011121314151617";

function hmacCase(title: string, options: Partial<HmacOptions>, key: string | Buffer, parts: readonly string[]): Case {
  const { algorithm = "sha256", encoding = "hex", signaturePrefix = "sha256=", secretEncoding = "utf8" } = options;
  const signature = hmac(algorithm, key, ...parts).toString(encoding);
  const headers = {
    ...(!options.pairs && { "x-timestamp": parts.find((part) => /^(1700000000|2023-)/.test(part)) ?? "" }),
    "x-delivery-id": "d-1",
    "x-shop": "shop-1",
    "x-signature": options.pairs ? `ts=${parts[0]};h1=${signature}` : `${signaturePrefix}${signature}`,
  };
  return {
    title,
    scheme: createHmacScheme(options),
    secret: secretEncoding === "utf8" ? textSecret : Buffer.from(key).toString(secretEncoding),
    header: "x-signature",
    request: { method: "POST", url, headers, body },
    nowSeconds: seconds,
    coversBody: true,
  };
}

const text = body.toString();
const time = String(seconds);
const binaryKey = Buffer.from(hexSecret, "hex");
const configured: Case[] = [
  hmacCase("hmac over time and body", {}, textSecret, [time, ".", text]),
  hmacCase(
    "hmac over everything",
    { signedContent: "{method} {url} {id} {header:X-Shop} {timestamp}\n{body}" },
    textSecret,
    [`POST ${url} d-1 shop-1 `, time, `\n${text}`],
  ),
  hmacCase("hmac in milliseconds", { timeUnit: "ms", signedContent: "{timestamp}{body}" }, textSecret, [
    `${time}500`,
    text,
  ]),
  hmacCase("hmac at a date", { timeUnit: "rfc3339", signedContent: "{timestamp}{body}" }, textSecret, [
    "2023-11-14T22:13:20Z",
    text,
  ]),
  hmacCase("hmac sha512 base64", { algorithm: "sha512", encoding: "base64" }, textSecret, [time, ".", text]),
  hmacCase("hmac base64url", { encoding: "base64url" }, textSecret, [time, ".", text]),
  hmacCase("hmac sha1, allowed", { algorithm: "sha1", acceptWeak: true }, textSecret, [time, ".", text]),
  hmacCase("hmac with a hexadecimal key", { secretEncoding: "hex" }, binaryKey, [time, ".", text]),
  hmacCase("hmac with a key in base 64", { secretEncoding: "base64" }, binaryKey, [time, ".", text]),
  hmacCase(
    "hmac in pairs",
    { pairs: { timeKey: "ts", signatureKey: "h1", separator: ";" }, signedContent: "{timestamp}:{body}" },
    textSecret,
    [time, ":", text],
  ),
  ed25519Case(),
  ...(["plain", "bearer", "basic"] as const).map(tokenCase),
  jwtCase(),
];

function ed25519Case(): Case {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, 7)]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const { x } = key.export({ format: "jwk" });
  const signature = sign(null, Buffer.from(`${time}${text}`), key).toString("hex");
  const headers = { "x-signature-timestamp": time, "x-signature-ed25519": signature };
  return {
    title: "ed25519",
    scheme: createEd25519Scheme(),
    header: "x-signature-ed25519",
    nowSeconds: seconds,
    secret: Buffer.from(x as string, "base64url").toString("hex"),
    request: { method: "POST", url, headers, body },
    coversBody: true,
  };
}

function tokenCase(tokenFormat: "plain" | "bearer" | "basic"): Case {
  const secret = "a-user:a-password-of-its-own";
  const values = {
    plain: secret,
    bearer: `Bearer ${secret}`,
    basic: `Basic ${Buffer.from(secret).toString("base64")}`,
  };
  return {
    title: `token ${tokenFormat}`,
    scheme: createTokenScheme({ tokenHeader: "x-token", tokenFormat }),
    secret,
    header: "x-token",
    nowSeconds: seconds,
    coversBody: false,
    request: { method: "POST", url, headers: { "x-token": values[tokenFormat] }, body },
  };
}

function jwtCase(): Case {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { iss: "https://partner.example", aud: "hub", iat: seconds, digest: hash("sha256", body) };
  const signed = `${encoded({ alg: "ES256", kid: "k-1" })}.${encoded(claims)}`;
  const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
  const options = { issuer: claims.iss, audience: "hub", bodyDigestClaim: "digest" };
  return {
    title: "jwt over the body",
    scheme: createJwtScheme(options),
    header: "authorization",
    nowSeconds: seconds,
    secret: JSON.stringify({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k-1" }] }),
    request: {
      method: "POST",
      url,
      body,
      headers: { authorization: `Bearer ${signed}.${signature.toString("base64url")}` },
    },
    coversBody: true,
  };
}

/** Cases with the signature or token in a header. */
const withProofHeader = Object.entries<Preset>(presets).filter(
  ([, { settings }]) => !settings.tokenFrom && !settings.signatureFrom,
);
const ofPresets = withProofHeader.map(([name, { scheme, settings, vector }]): Case => {
  const shown = Object.keys(vector.headers).find((one) => /signature(?!-timestamp)|hmac|authorization/.test(one));
  const header = settings.signingToken
    ? "webhook-signature"
    : (settings.signatureHeader ?? settings.tokenHeader ?? shown ?? "");
  const own = schemeOf(scheme, { ...settings, ...vector.settings });
  return {
    title: `preset ${name}`,
    scheme: own,
    ...(vector.certificate && { certificate: vector.certificate }),
    secret: vector.secret,
    header,
    request: { method: "POST", url: vector.url ?? url, headers: vector.headers, body: Buffer.from(vector.body) },
    nowSeconds: vector.atSeconds,
    coversBody: own.covers({ pointer: "/any" }),
  };
});

type Request = Case["request"];
const judge = (
  { scheme, secret, nowSeconds, certificate }: Case,
  request: Request,
  secrets = [secret],
  now = nowSeconds,
) => {
  const limits = { secrets, nowSeconds: now, toleranceSeconds: 300, ...(certificate && { certificate }) };
  const verdict = scheme.verify(request, limits);
  return verdict.verified ? "verified" : verdict.problem;
};

const withHeader = (request: Request, name: string, value: string): Request => ({
  ...request,
  headers: { ...request.headers, [name]: value },
});

/** Returns the signature without its prefix in the header. */
const digestIn = (value: string) => /[A-Za-z0-9+/_-]{27,}={0,2}$/.exec(value)?.[0] ?? value;

/** Returns wrong variants of a valid header. */
function* wrongHeaders(right: string): Generator<readonly [string, string]> {
  const digest = digestIn(right);
  const start = right.slice(0, right.length - digest.length);
  const bytes = Buffer.from(right, "latin1");
  for (let at = 0; at < bytes.length; at++) {
    for (const bit of [1, 2, 4, 8, 16, 64]) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] as number) ^ bit;
      // Hexadecimal digits, our prefixes and "Bearer" are not case-sensitive.
      if (flipped.toString("latin1").toLowerCase() !== right.toLowerCase())
        yield [`bit ${bit} at ${at}`, flipped.toString("latin1")];
    }
  }
  for (const cut of [1, 2, digest.length / 2, digest.length]) yield [`cut by ${cut}`, right.slice(0, -Math.ceil(cut))];
  yield ["doubled digest", `${start}${digest}${digest}`];
  yield ["swapped halves", `${start}${digest.slice(digest.length / 2)}${digest.slice(0, digest.length / 2)}`];
  yield ["reversed", `${start}${[...digest].reverse().join("")}`];
  yield ["empty", ""];
  for (const from of ["hex", "base64", "base64url"] as const) {
    for (const to of ["hex", "base64", "base64url"] as const) {
      const other = Buffer.from(digest, from).toString(to);
      if (other.replace(/=+$/, "") !== digest.replace(/=+$/, "")) yield [`${from} as ${to}`, `${start}${other}`];
    }
  }
}

for (const one of [...configured, ...ofPresets]) {
  const { title, request, header, secret, scheme, nowSeconds } = one;

  test(`${title}: the original request is verified`, () => {
    assert.equal(judge(one, request), "verified");
    assert.equal(judge(one, request, ["another secret of 16 bytes", secret]), "verified");
    if (title.startsWith("preset")) return;
    assert.equal(scheme.secretProblem(secret), null);
  });

  test(`${title}: no variant of its header is verified`, () => {
    const right = request.headers[header] as string;
    let tried = 0;
    for (const [what, wrong] of wrongHeaders(right)) {
      assert.notEqual(judge(one, withHeader(request, header, wrong)), "verified", `${what}: ${wrong}`);
      tried++;
    }
    assert.ok(tried > 50, `${tried} were tried`);
    const { [header]: _, ...headers } = request.headers;
    assert.match(judge(one, { ...request, headers }), /_missing$/);
  });

  test(`${title}: no other secret verifies, not even an empty one`, () => {
    for (const wrong of [
      "",
      " ",
      secret.slice(1),
      secret.slice(0, -1),
      `${secret}0`,
      `${secret}${secret}`,
      "undefined",
    ]) {
      assert.notEqual(judge(one, request, [wrong]), "verified", wrong);
    }
    assert.notEqual(judge(one, request, []), "verified");
    assert.notEqual(scheme.secretProblem(""), null);
  });

  if (one.coversBody) {
    test(`${title}: a body with one bit changed, a part of it or the body twice is not verified`, () => {
      const { body: right } = request;
      const others = Array.from({ length: right.length * 8 }, (_, bit) => {
        const other = Buffer.from(right);
        other[bit >> 3] = (other[bit >> 3] as number) ^ (1 << (bit & 7));
        return other;
      });
      others.push(Buffer.concat([right, right]), Buffer.from(right.subarray(1)), Buffer.from(right.subarray(0, -1)));
      others.push(Buffer.alloc(0), Buffer.concat([Buffer.from(" "), right]));
      for (const other of others)
        assert.match(judge(one, { ...request, body: other }), /^(signature|body_digest)_mismatch$/);
    });
  }

  // A time in the body is checked after the body is parsed.
  if (scheme.signsTime && !scheme.verifyTime) {
    test(`${title}: another time, unit or spelling of the time is not verified`, () => {
      for (const late of [-302, 302]) assert.match(judge(one, request, [secret], nowSeconds + late), /^timestamp_/);
      for (const [name, value] of Object.entries(request.headers)) {
        const at = /\d{4}-\d{2}-\d{2}T[\d:]+Z|\d{10,13}(?![0-9a-f])/.exec(value)?.[0];
        if (at === undefined) continue;
        for (const other of [
          `${at}0`,
          `0${at}`,
          `+${at}`,
          `${at}.0`,
          at.slice(0, -1),
          `${at}000`,
          `${Date.parse(at)}`,
          "0",
          "",
        ]) {
          const changed = value.replace(at, other);
          assert.notEqual(judge(one, withHeader(request, name, changed)), "verified", changed);
        }
      }
    });
  }
}

test("a template covers all its parts: another method, address, id or header is not verified", () => {
  const one = configured[1] as Case;
  assert.equal(judge(one, { ...one.request, method: "PUT" }), "signature_mismatch");
  assert.equal(judge(one, { ...one.request, url: `${url}&more=1` }), "signature_mismatch");
  assert.equal(judge(one, withHeader(one.request, "x-shop", "shop-2")), "signature_mismatch");
  assert.equal(judge(one, withHeader(one.request, "x-delivery-id", "d-2")), "signature_mismatch");
  const { "x-shop": _, ...shopless } = one.request.headers;
  assert.equal(judge(one, { ...one.request, headers: shopless }), "signed_header_missing");
  const { "x-delivery-id": __, ...nameless } = one.request.headers;
  assert.equal(judge(one, { ...one.request, headers: nameless }), "delivery_id_missing");
  assert.deepEqual(one.scheme.identify(one.request, {}).deliveryId, { value: "d-1", signed: true });
  assert.equal(one.scheme.hasUnsignedId, undefined);
});

test("one valid signature of several in a header is enough, up to a limit of checked ones", () => {
  const options = { signatureSeparator: ",", signedContent: "{body}" };
  const right = `sha256=${hmac("sha256", textSecret, body).toString("hex")}`;
  const wrong = `sha256=${"0".repeat(64)}`;
  const judged = (value: string) => {
    const headers = { "x-signature": value };
    const request = { method: "POST", url, headers, body };
    const limits = { secrets: [textSecret], nowSeconds: seconds, toleranceSeconds: 300 };
    return createHmacScheme(options).verify(request, limits).verified;
  };
  assert.equal(judged(`${wrong}, ${right}`), true);
  assert.equal(judged(`${wrong},${wrong}`), false);
  assert.equal(judged(`${`${wrong},`.repeat(16)}${right}`), false);
});

test("SHA-1 verifies nothing unless it is allowed", () => {
  const { request, secret } = configured[6] as Case;
  const limits = { secrets: [secret], nowSeconds: seconds, toleranceSeconds: 300 };
  assert.equal(createHmacScheme({ algorithm: "sha1", acceptWeak: true }).verify(request, limits).verified, true);
  assert.equal(createHmacScheme({ algorithm: "sha1" }).verify(request, limits).verified, false);
});

const graph = presets["microsoft-graph"];
const shown = (items: readonly unknown[] | string, secrets: readonly string[] = [graph.vector.secret]) => {
  const payload = Buffer.from(typeof items === "string" ? items : JSON.stringify({ value: items }));
  const limits = { secrets, nowSeconds: 0, toleranceSeconds: 300 };
  const verdict = schemeOf(graph.scheme, graph.settings).verify(
    { method: "POST", url, headers: {}, body: payload },
    limits,
  );
  return verdict.verified ? "verified" : verdict.problem;
};

test("a token in the body must be in every item of its list, or the webhook is not verified", () => {
  const right = { clientState: graph.vector.secret };
  assert.equal(shown(graph.vector.body), "verified");
  assert.equal(shown([right, right]), "verified");
  assert.equal(shown([right], ["another secret of 16 bytes", graph.vector.secret]), "verified");
  for (const wrong of [[right, {}], [{}], [], [right, null], [right, { clientState: null }], [[right], "x"]])
    assert.equal(shown(wrong), "token_missing", JSON.stringify(wrong));
  for (const secret of [
    "",
    "x",
    `${right.clientState} `,
    right.clientState.slice(1),
    right.clientState.toUpperCase(),
  ]) {
    const problem = secret === "" ? "token_missing" : "token_mismatch";
    assert.equal(shown([right, { clientState: secret }]), problem, secret);
    assert.equal(shown([{ clientState: secret }, right]), problem, secret);
  }
  for (const bit of Array.from({ length: right.clientState.length * 7 }, (_, at) => at)) {
    const flipped = Buffer.from(right.clientState);
    flipped[Math.floor(bit / 7)] = (flipped[Math.floor(bit / 7)] as number) ^ (1 << (bit % 7));
    assert.equal(shown([{ clientState: flipped.toString("latin1") }]), "token_mismatch");
  }
  for (const broken of ["", "{", "[]", "null", '"secretClientValue"', `{"value":{"0":{}}}`])
    assert.match(shown(broken), /^token_(malformed|missing)$/, broken);
  assert.equal(shown(Array.from({ length: 1_001 }, () => right)), "token_malformed");
  assert.equal(shown([right], [""]), "secret_unusable");
});
