import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import { readRequest } from "./saved-request.ts";
import { verify } from "./verify.ts";

/** The example of Standard Webhooks. */
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const atSeconds = 1_614_265_330;
const body = '{"test": 2432232314}';
const signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

const saved = (text = body, more: Readonly<Record<string, string>> = {}) => {
  const headers = { "Webhook-Id": id, "webhook-timestamp": String(atSeconds), "webhook-signature": signature, ...more };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(`POST /hooks HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${text}`);
};
const judge = (
  bytes: Buffer,
  { secrets = [secret], at = atSeconds }: { readonly secrets?: readonly string[]; readonly at?: number } = {},
) => verify(readRequest(bytes), { secrets, atSeconds: at, toleranceSeconds: 300 }).at(-1);

/** A signature with the key over this text, which is sent with another body. */
const signedAs = (text: string, key: Buffer | string = Buffer.from(secret.slice(6), "base64")) =>
  `v1,${createHmac("sha256", key).update(`${id}.${atSeconds}.${text}`).digest("base64")}`;

test("the example of the specification is genuine, in HTTP, in JSON and among signatures of other secrets", () => {
  const headers = { "Webhook-Id": id, "webhook-timestamp": String(atSeconds), "webhook-signature": signature };
  for (const bytes of [
    saved(),
    saved(body, { "webhook-signature": `v1,AAAA v2,x ${signature}` }),
    Buffer.from(JSON.stringify({ headers, body })),
    Buffer.from(JSON.stringify({ headers, body: Buffer.from(body).toString("base64"), body_encoding: "base64" })),
    Buffer.from(saved().toString().replaceAll("\r\n", "\n").replace("POST /hooks HTTP/1.1\n", "")),
  ]) {
    assert.deepEqual(judge(bytes), { name: "signature", ok: true, message: "matches 20 bytes of body" });
  }
  assert.equal(judge(saved(), { secrets: ["whsec_AAAA", secret] })?.ok, true);
});

test("an Ed25519 signature is verified with the public key alone", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  const given = `v1a,${sign(null, Buffer.from(`${id}.${atSeconds}.${body}`), privateKey).toString("base64")}`;
  const secrets = [`whpk_${Buffer.from(x, "base64url").toString("base64")}`];
  assert.equal(judge(saved(body, { "webhook-signature": given }), { secrets })?.ok, true);
  assert.equal(judge(saved(`${body}x`, { "webhook-signature": given }), { secrets })?.ok, false);
});

test("the step that fails is named, with what to do", () => {
  for (const [bytes, terms, name, message] of [
    [saved(body, { "webhook-signature": "" }), {}, "headers", /^Missing: webhook-signature\.$/],
    [saved(body, { "webhook-signature": "sha256=ab" }), {}, "headers", /no v1/],
    [saved(body, { "webhook-timestamp": "yesterday" }), {}, "time", /Invalid webhook-timestamp "yesterday"/],
    [saved(), { at: atSeconds + 301 }, "time", /301 s before the time of the check/],
    [saved(), { at: atSeconds - 301 }, "time", /301 s after/],
    [saved(), { secrets: ["whsec_not base64"] }, "secret", /cut off, or copied with a space/],
    [saved(), { secrets: ["whpk_AAAA"] }, "secret", /not whsec_ or whpk_/],
    [saved(`${body}\n`), {}, "signature", /line end that was not signed/],
    [saved('{"a":1,\r\n"b":2}', { "webhook-signature": signedAs('{"a":1,\n"b":2}') }), {}, "signature", /CRLF/],
    [saved('{ "a": 1 }', { "webhook-signature": signedAs('{"a":1}') }), {}, "signature", /parsed and serialized again/],
    [saved(body, { "webhook-signature": signedAs(body, secret) }), {}, "signature", /secret as text/],
    [saved("{}"), {}, "signature", /No signature matches/],
    [saved(), { secrets: ["whsec_AAAA"] }, "signature", /No signature matches/],
  ] as const) {
    const step = judge(bytes, terms);
    assert.deepEqual([step?.name, step?.ok], [name, false], step?.message);
    assert.match(step?.message ?? "", message);
  }
});

test("a file that is no request is explained", () => {
  assert.throws(() => readRequest(Buffer.from("just text")), /no empty line/);
  assert.throws(() => readRequest(Buffer.from("just text\n\nbody")), /invalid header "just text"/);
});
