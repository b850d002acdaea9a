import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import type { DeliveryHeaders } from "./signed-delivery.ts";
import { type KeySet, keysOfAccount, type Secret } from "./verification-keys.ts";
import { type RawBody, type VerifyOptions, verify, verifySignature } from "./verify.ts";
import { type WebhookProblem, WebhookVerificationError } from "./webhook-verification-error.ts";

/** The example of Standard Webhooks, in both versions of its signature. */
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const publicKey = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
const body = '{"test": 2432232314}';
const id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const time = 1_614_265_330;
const v1 = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const v1a = "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==";
const standard = (signature: string, others: Record<string, string> = {}) => ({
  "webhook-id": id,
  "webhook-timestamp": String(time),
  "webhook-signature": signature,
  ...others,
});
const hex = (key: string, text: string) => createHmac("sha256", key).update(text).digest("hex");
const plain = {
  "X-Timestamp": String(time),
  "X-Signature": `sha256=${hex(secret, `${time}.${body}`)}`,
};
const at: VerifyOptions = { now: time * 1000 };

/** The verdict on a delivery: "verified", or the code. */
async function judge(
  headers: DeliveryHeaders,
  secrets: Secret | readonly Secret[] = secret,
  { content = body, options = at }: { content?: RawBody; options?: VerifyOptions } = {},
): Promise<WebhookProblem | "verified"> {
  return verifySignature(content, headers, secrets, options).then(
    () => "verified",
    (error: unknown) => {
      assert.ok(error instanceof WebhookVerificationError, String(error));
      return error.code;
    },
  );
}

test("the published test vectors verify, as does the plain signature", async () => {
  assert.equal(await judge(standard(v1)), "verified");
  assert.equal(await judge(standard(v1), secret.slice("whsec_".length)), "verified");
  assert.equal(await judge(standard(v1a), publicKey), "verified");
  const svix = {
    "Webhook-Id": "msg_loFOjxBNrRLzqYUf",
    "WEBHOOK-TIMESTAMP": "1731705121",
    "webhook-signature": "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=",
  };
  const options = { now: 1_731_705_121_000 };
  const content = '{"event_type":"ping","data":{"success":true}}';
  assert.equal(await judge(svix, "whsec_plJ3nmyCDGBKInavdOK15jsl", { content, options }), "verified");
  assert.equal(await judge(plain), "verified");
  const { id: proved, sentAt } = await verifySignature(body, new Headers(standard(v1)), secret, at);
  assert.deepEqual([proved, sentAt.getTime()], [id, time * 1000]);
  assert.equal((await verifySignature(body, plain, secret, at)).id, null, "the plain form does not sign the id");
});

test("text, bytes, a view into bytes and a buffer are the same body", async () => {
  const bytes = new TextEncoder().encode(body);
  const within = new Uint8Array([0, ...bytes, 0]).subarray(1, -1);
  for (const content of [bytes, within, bytes.buffer, Buffer.from(body)])
    assert.equal(await judge(standard(v1), secret, { content }), "verified");
  const parsed = JSON.parse(body);
  for (const content of [parsed, undefined, null, 1])
    await assert.rejects(verifySignature(content, standard(v1), secret, at), { code: "body_not_raw" });
});

test("one wrong byte fails, wherever it is", async () => {
  const bytes = Buffer.from(body);
  for (const [form, headers, key] of [
    ["v1", standard(v1), secret],
    ["v1a", standard(v1a), publicKey],
    ["plain", plain, secret],
  ] as const) {
    for (const index of bytes.keys()) {
      const content = Buffer.from(bytes);
      content[index] = (content[index] as number) ^ 1;
      assert.equal(await judge(headers, key, { content }), "signature_mismatch", `${form}, byte ${index}`);
    }
    for (const content of [`${body} `, body.slice(1), ""])
      assert.equal(await judge(headers, key, { content }), "signature_mismatch");
    for (const [name, value] of Object.entries(headers)) {
      for (let index = 0; index < value.length; index++) {
        const other = value[index] === "1" ? "2" : "1";
        const changed = { ...headers, [name]: value.slice(0, index) + other + value.slice(index + 1) };
        // A changed time is told before or after the signature, by its distance.
        assert.notEqual(await judge(changed, key), "verified", `${form}: ${name} with ${other} at ${index}`);
      }
    }
  }
  for (const index of secret.slice("whsec_".length).split("").keys()) {
    const place = index + "whsec_".length;
    const other = secret[place] === "A" ? "B" : "A";
    assert.notEqual(await judge(standard(v1), secret.slice(0, place) + other + secret.slice(place + 1)), "verified");
  }
});

test("each fault has its code", async () => {
  const without = (name: string) => ({ ...standard(v1), [name]: undefined });
  assert.equal(await judge({}), "signature_missing");
  assert.equal(await judge(without("webhook-id")), "delivery_id_missing");
  assert.equal(await judge(without("webhook-timestamp")), "timestamp_missing");
  assert.equal(await judge({ "x-signature": plain["X-Signature"] }), "timestamp_missing");
  for (const text of ["soon", "1614265330.0", "-1614265330", "+1614265330", " ", "16142653300000", "1e9"])
    assert.equal(await judge({ ...standard(v1), "webhook-timestamp": text }), "timestamp_malformed", text);
  for (const text of [
    "x",
    "v1,",
    "v1,AAAA",
    v1.slice(3),
    v1.replace("v1,", "v2,"),
    v1.slice(0, -1),
    v1.replace("=", ""),
  ])
    assert.equal(await judge(standard(text)), "signature_malformed", text);
  for (const text of ["sha256=", plain["X-Signature"].slice(7), plain["X-Signature"].toUpperCase()])
    assert.equal(await judge({ ...plain, "X-Signature": text }), "signature_malformed", text);
  assert.equal(await judge({ ...standard(v1), "webhook-id": ["a", "b"] }), "header_repeated");
  assert.equal(await judge({ ...standard(v1), "Webhook-Signature": v1 }), "header_repeated");
  assert.equal(await judge({ ...standard(v1), "webhook-id": [id] }), "verified");
  for (const unusable of ["", "whsec_", "whsec_AAAA", "whpk_AAAA", "plain text"])
    assert.equal(await judge(standard(v1), unusable), "secret_unusable", unusable);
  assert.equal(await judge(standard(v1), []), "secret_unusable");
  assert.equal(await judge(plain, publicKey), "secret_unusable", "no public key verifies the plain form");
  assert.equal(await judge(standard(v1), publicKey), "signature_missing");
  assert.equal(await judge(standard(v1a), secret), "signature_missing");
});

test("the time is judged in both directions, after the signature", async () => {
  const judgeAt = (seconds: number, more: VerifyOptions = {}) =>
    judge(standard(v1), secret, { options: { now: (time + seconds) * 1000, ...more } });
  assert.equal(await judgeAt(300), "verified");
  assert.equal(await judgeAt(301), "timestamp_too_old");
  assert.equal(await judgeAt(-300), "verified");
  assert.equal(await judgeAt(-301), "timestamp_in_future");
  assert.equal(await judgeAt(3600, { toleranceSeconds: 3600 }), "verified");
  assert.equal(await judge(standard(v1), secret, { options: {} }), "timestamp_too_old", "by the clock of the machine");
  const late = { content: "other", options: { now: 0 } };
  assert.equal(await judge(standard(v1), secret, late), "signature_mismatch");
});

test("one match is enough during a rotation, among secrets as among signatures", async () => {
  const other = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const wrong = `v1,${Buffer.alloc(32).toString("base64")}`;
  assert.equal(await judge(standard(v1), [other, secret]), "verified");
  assert.equal(await judge(standard(v1), ["unusable", secret]), "verified");
  assert.equal(await judge(standard(v1), other), "signature_mismatch");
  assert.equal(await judge(standard(`${wrong} v2,later ${v1} v1a,short`)), "verified");
  assert.equal(await judge(standard(`${wrong} v2,later`)), "signature_mismatch");
  assert.equal(await judge(standard(`${`${wrong} `.repeat(1000)}${v1}`)), "signature_mismatch", "the list is bounded");
  const previous = {
    ...plain,
    "X-Signature": `sha256=${"0".repeat(64)}`,
    "X-Signature-Previous": plain["X-Signature"],
  };
  assert.equal(await judge(previous), "verified");
  // Where both forms are there, the one that signs more decides.
  assert.equal(await judge({ ...plain, ...standard(wrong) }), "signature_mismatch");
});

test("v1a is verified by the current keys of the account, added ones included", async () => {
  const { privateKey, publicKey: added } = generateKeyPairSync("ed25519");
  const addedKey = `whpk_${Buffer.from(added.export({ format: "jwk" }).x ?? "", "base64url").toString("base64")}`;
  const signature = sign(null, Buffer.from(`${id}.${time}.${body}`), privateKey).toString("base64");
  const old: KeySet = { items: [{ public_key: publicKey, ends_at: null }] };
  const rotated: KeySet = { items: [{ public_key: addedKey }, ...old.items] };
  const ended: KeySet = { items: [{ public_key: publicKey, ends_at: new Date(time * 1000).toISOString() }] };
  assert.equal(await judge(standard(v1a), old), "verified");
  assert.equal(await judge(standard(v1a), ended), "secret_unusable");

  let now = 0;
  const urls: string[] = [];
  const answers: (KeySet | number)[] = [503, old, rotated];
  const source = keysOfAccount({
    baseUrl: "https://signalbox.example/",
    accountId: "acc_1",
    now: () => now,
    fetch: async (url) => {
      urls.push(url);
      const answer = answers.shift() ?? 503;
      return typeof answer === "number" ? new Response(null, { status: answer }) : Response.json(answer);
    },
  });
  assert.equal(await judge(standard(v1a), source), "keys_unavailable");
  assert.deepEqual(await Promise.all([1, 2].map(() => judge(standard(v1a), source))), ["verified", "verified"]);
  assert.equal(urls[0], "https://signalbox.example/api/v1/webhooks/keys?account_id=acc_1");
  assert.equal(urls.length, 2, "two verifications at once share a read");
  assert.equal(await judge(standard(`v1a,${signature}`), source), "signature_mismatch");
  assert.equal(urls.length, 2, "forged deliveries do not make a request each");
  now = 31_000;
  assert.equal(await judge(standard(`v1a,${signature}`), source), "verified");
  assert.equal(urls.length, 3);
  now = 3_600_000;
  assert.equal(await judge(standard(v1a), source), "verified", "kept keys outlast an outage");
  assert.equal(urls.length, 4);
});

/** Signs an event as Signalbox does. */
function signed(event: unknown, text = JSON.stringify(event)) {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const digest = createHmac("sha256", key).update(`${id}.${time}.${text}`).digest("base64");
  return [text, standard(`v1,${digest}`), secret, at] as const;
}
const event = { id, type: "order.created", created_at: "2026-01-01T00:00:00.000Z", data: { total: 3 } };

test("the type of an event tells the compiler its data", async () => {
  const received = await verify<{ "order.created": { total: number } }>(...signed(event));
  const described = () => {
    switch (received.type) {
      case "order.created":
        return received.data.total.toFixed(1);
      case "image.created":
        return `${received.data.width.toFixed()} ${received.data.status satisfies "processing" | "ready" | "failed"}`;
      case "webhook_endpoint.test":
        return received.data.secrets?.[0]?.id;
      default:
        // @ts-expect-error The data of a type that nobody declared are unknown.
        return received.data.total;
    }
  };
  assert.equal(described(), "3.0");
});

test("a verified body that is no event in the standard format is refused by its own code", async () => {
  assert.equal((await verify(...signed(event))).data !== undefined, true);
  const { data: _data, ...thin } = event;
  for (const other of [thin, [event], "text", null, { ...event, id: 1 }, { ...event, created_at: undefined }])
    await assert.rejects(verify(...signed(other)), { code: "body_not_event" });
  await assert.rejects(verify(...signed(null, "a=1&b=2")), { code: "body_not_event" });
  const messages = await Promise.all([{}, standard(v1)].map((headers) => verify(body, headers, secret).catch(String)));
  for (const message of messages.map(String)) assert.ok(!message.includes(secret.slice(6)) && !message.includes(v1));
});
