import assert from "node:assert/strict";
import { test } from "node:test";
import { type DigestAlgorithm, type DigestEncoding, hmac } from "./schemes/digest.ts";
import { createHmacScheme } from "./schemes/hmac-scheme.ts";
import { guessScheme, type SchemeName, schemeOf } from "./schemes/schemes.ts";
import type { SignatureScheme } from "./schemes/signature-scheme.ts";

const posted = { method: "POST", url: "https://example.com/ingest" };

interface Vector {
  readonly title: string;
  readonly scheme: SignatureScheme;
  readonly secret: string;
  readonly body: string;
  readonly headers: Record<string, string>;
  readonly nowSeconds: number;
}

const vector = (title: string, name: SchemeName, rest: Omit<Vector, "title" | "scheme">): Vector => ({
  title,
  scheme: schemeOf(name),
  ...rest,
});

const first = {
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  body: '{"test": 2432232314}',
  signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const standardHeaders = (id: string, timestamp: string, signature: string, prefix = "webhook") => ({
  [`${prefix}-id`]: id,
  [`${prefix}-timestamp`]: timestamp,
  [`${prefix}-signature`]: signature,
});

const slackBody =
  "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar" +
  "&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com" +
  "%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";

const vectors: readonly Vector[] = [
  vector("Standard Webhooks v1", "standard-webhooks", {
    secret: first.secret,
    body: first.body,
    headers: standardHeaders(first.id, "1614265330", first.signature),
    nowSeconds: 1614265330,
  }),
  vector("Standard Webhooks v1, secret without its prefix, Svix header names", "standard-webhooks", {
    secret: first.secret.slice("whsec_".length),
    body: first.body,
    headers: standardHeaders(first.id, "1614265330", first.signature, "svix"),
    nowSeconds: 1614265330,
  }),
  vector("Svix manual verification", "standard-webhooks", {
    secret: "whsec_plJ3nmyCDGBKInavdOK15jsl",
    body: '{"event_type":"ping","data":{"success":true}}',
    headers: standardHeaders("msg_loFOjxBNrRLzqYUf", "1731705121", "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="),
    nowSeconds: 1731705121,
  }),
  vector("Standard Webhooks v1a", "standard-webhooks", {
    secret: "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
    body: first.body,
    headers: standardHeaders(
      first.id,
      "1614265330",
      "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==",
    ),
    nowSeconds: 1614265330,
  }),
  vector("GitHub", "github", {
    secret: "It's a Secret to Everybody",
    body: "Hello, World!",
    headers: { "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17" },
    nowSeconds: 0,
  }),
  vector("Stripe, derived from the inputs of its library's tests", "stripe", {
    secret: "whsec_test_secret",
    body: '{\n  "id": "evt_test_webhook",\n  "object": "event"\n}',
    headers: {
      "stripe-signature": "t=1614265330,v1=af4ead0627a34a8cca29808e8de9ada8e41a92e6237c63cef6eacf51d36cca34",
    },
    nowSeconds: 1614265330,
  }),
  vector("Slack", "slack", {
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    body: slackBody,
    headers: {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    },
    nowSeconds: 1531420618,
  }),
  {
    title: "Outpost's primitive as a configured hmac source",
    scheme: createHmacScheme({ signaturePrefix: "" }),
    secret: "test-secret",
    body: '{"hello":"world"}',
    headers: {
      "x-timestamp": "1234567890",
      "x-signature": "7054f74dae9f73e82b56ca73e8f81450097c698eeda0b00bb8728e89796baf2d",
    },
    nowSeconds: 1234567890,
  },
  ...convoyVectors(),
];

/** Convoy's "simple" (body only) and "advanced" (time and body in one header) forms, as configured hmac sources. */
function convoyVectors(): Vector[] {
  const key = "77b8b9269f25a199846a55a2bd25b3fba151c70fdae60bb1dcd87fbbc943c55c";
  const cases: [DigestAlgorithm, DigestEncoding, "none" | "pairs", string][] = [
    ["sha256", "hex", "none", "244449b7f48cbc2709060c9dcdc2b3aa47a78f540430579015c579fb12defbb4"],
    ["sha256", "base64", "none", "JERJt/SMvCcJBgydzcKzqkenj1QEMFeQFcV5+xLe+7Q="],
    [
      "sha512",
      "hex",
      "none",
      "6cc772dc81942ae1b5ffa91c3a6a07b0d37edc8dc6bd83e3518a219f1f19ff71ae1b76d6b320940d414c236a1aad7f7930b63e0f1928951955d31219545e1b66",
    ],
    [
      "sha512",
      "base64",
      "none",
      "bMdy3IGUKuG1/6kcOmoHsNN+3I3GvYPjUYohnx8Z/3GuG3bWsyCUDUFMI2oarX95MLY+DxkolRlV0xIZVF4bZg==",
    ],
    ["sha256", "hex", "pairs", `t=1700000000,v1=${key}`],
    ["sha256", "base64", "pairs", "t=1700000000,v1=d7i5Jp8loZmEalWivSWz+6FRxw/a5gux3Nh/u8lDxVw="],
    [
      "sha512",
      "hex",
      "pairs",
      "t=1700000000,v1=b2122e252cd2582cf225cb2b8d4ceede9e34329e2fe95c02619c3ed5d4a3d9a73e6beaf2dff8e76d71a693ae198cee40685eed12ad4ee2e033dc2d0399ede057",
    ],
    [
      "sha512",
      "base64",
      "pairs",
      "t=1700000000,v1=shIuJSzSWCzyJcsrjUzu3p40Mp4v6VwCYZw+1dSj2ac+a+ry3/jnbXGmk64ZjO5AaF7tEq1O4uAz3C0Dme3gVw==",
    ],
    ["sha256", "hex", "pairs", `v1=${key},t=1700000000`],
    [
      "sha256",
      "hex",
      "pairs",
      `t=1700000000,v1=449623e4897bbde05e35358293f97b8c2f697367ffa3e7466e98178dfba44d19,v1=${key}`,
    ],
  ];
  return cases.map(([algorithm, encoding, time, signature], index) => ({
    title: `Convoy case ${index + 1}: ${algorithm} ${encoding} ${time}`,
    scheme: createHmacScheme({
      algorithm,
      encoding,
      signedContent: time === "none" ? "{body}" : "{timestamp},{body}",
      pairs: time === "none" ? null : { timeKey: "t", signatureKey: "v1", separator: "," },
      signaturePrefix: "",
      signatureHeader: "X-Convoy-Signature",
    }),
    secret: "convoy-webhook-secret",
    body: '{"event":"charge.success","amount":1000,"currency":"NGN"}',
    headers: { "x-convoy-signature": signature },
    nowSeconds: 1700000000,
  }));
}

for (const { title, scheme, secret, body, headers, nowSeconds } of vectors) {
  const judge = (change: { secrets?: string[]; body?: string; now?: number; headers?: Record<string, string> }) =>
    scheme.verify(
      { ...posted, headers: change.headers ?? headers, body: Buffer.from(change.body ?? body) },
      { secrets: change.secrets ?? [secret], nowSeconds: change.now ?? nowSeconds, toleranceSeconds: 300 },
    ).verified;

  test(`the published vector is verified: ${title}`, () => {
    assert.equal(judge({}), true);
    assert.equal(judge({ secrets: ["whsec_b3RoZXItc2VjcmV0LW9mLTMyLWJ5dGVzLWxvbmc=", secret] }), true);
  });

  test(`the published vector fails with anything changed: ${title}`, () => {
    assert.equal(judge({ body: `${body} ` }), false);
    assert.equal(judge({ body: "" }), false);
    assert.equal(judge({ secrets: [] }), false);
    assert.equal(judge({ secrets: [""] }), false);
    assert.equal(judge({ secrets: [`${secret}x`] }), false);
    if (scheme.signsTime) {
      assert.equal(judge({ now: nowSeconds + 301 }), false);
      assert.equal(judge({ now: nowSeconds - 301 }), false);
      assert.equal(judge({ now: nowSeconds + 300 }), true);
      assert.equal(judge({ now: nowSeconds - 300 }), true);
    }
    for (const name of Object.keys(headers)) {
      assert.equal(judge({ headers: { ...headers, [name]: "" } }), false, `${name} empty`);
      assert.equal(judge({ headers: { ...headers, [name]: `${headers[name]}0` } }), false, `${name} longer`);
      assert.equal(judge({ headers: { ...headers, [name]: `0${headers[name]}` } }), false, `${name} shifted`);
      assert.equal(
        judge({ headers: { ...headers, [name]: `${headers[name]}, ${headers[name]}x` } }),
        false,
        `${name} twice`,
      );
      const rest = Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
      assert.equal(judge({ headers: rest }), false, `${name} absent`);
    }
  });
}

test("the HMAC primitive equals Stripe's published digests", () => {
  const digests = new Map([
    ["", "f7f9bd47fb987337b5796fdc1fdb9ba221d0d5396814bfcaf9521f43fd8927fd"],
    ['{"obj1":"hello","obj2":"world"}', "bebb1a643997f419b315ddba19e6f5411e1ce7f810ba6d3617ce72823092f363"],
    ["\u{1f600}", "837da296d05c4fe31f61d5d7ead035099d9585a5bcde87de952012a78f0b0c43"],
  ]);
  for (const [content, digest] of digests) assert.equal(hmac("sha256", "test_secret", content).toString("hex"), digest);
});

test("the weaker SHA-1 and MD5 signatures that senders add are not accepted", () => {
  const weak = ["e2f4423c54f5385099d8e3fbb01237d415ee8fdf", "aa98470ad83d2d02006b1a67d2c3b4eb"];
  for (const signature of weak) {
    const request = {
      ...posted,
      headers: { "x-timestamp": "1234567890", "x-signature": signature },
      body: Buffer.from('{"hello":"world"}'),
    };
    const options = { secrets: ["test-secret"], nowSeconds: 1234567890, toleranceSeconds: 300 };
    assert.deepEqual(createHmacScheme({ signaturePrefix: "" }).verify(request, options), {
      verified: false,
      problem: "signature_malformed",
      timestampSeconds: 1234567890,
    });
  }
});

test("the headers of a request show the scheme of its sender", () => {
  const guesses: readonly [headers: Record<string, string>, scheme: string | null][] = [
    [{ "webhook-id": "1", "webhook-signature": "v1,ab" }, "standard-webhooks"],
    [{ "svix-signature": "v1,ab" }, "standard-webhooks"],
    [{ "stripe-signature": "t=1,v1=ab" }, "stripe"],
    [{ "x-hub-signature-256": "sha256=ab" }, "github"],
    [{ authorization: "Bearer aa.bb.cc" }, "jwt"],
    [{ authorization: "Bearer secret" }, "token"],
    [{ "content-type": "application/json" }, null],
  ];
  for (const [headers, scheme] of guesses) assert.equal(guessScheme(headers), scheme, JSON.stringify(headers));
});
