import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, hash, type KeyObject, sign } from "node:crypto";
import { test } from "node:test";
import { presets } from "../presets/presets.ts";
import { createHmacScheme } from "./hmac-scheme.ts";
import { createPublicKeyScheme } from "./public-key-scheme.ts";
import { schemeOf } from "./schemes.ts";
import type { SignatureScheme } from "./signature-scheme.ts";

const seconds = 1_700_000_000;
const body = Buffer.from('{"id":"evt_1","type":"order.created"}');
const url = "https://hub.example/ingest/src_1";

interface Judged {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly secrets: readonly string[];
  readonly certificate?: string;
  readonly nowSeconds?: number;
  readonly url?: string;
}

function judged(scheme: SignatureScheme, { headers = {}, nowSeconds = seconds, ...given }: Judged): string {
  const request = { method: "POST", url: given.url ?? url, headers, body: given.body ?? body };
  const { secrets, certificate = null } = given;
  const verdict = scheme.verify(request, { secrets, nowSeconds, toleranceSeconds: 300, certificate });
  return verdict.verified ? "verified" : verdict.problem;
}

const der = (key: KeyObject) => key.export({ format: "der", type: "spki" }).toString("base64");
const pem = (key: KeyObject) => key.export({ format: "pem", type: "spki" }).toString();
const base = {
  encoding: "base64",
  signatureHeader: "x-signature",
  timestampHeader: "x-timestamp",
} as const;
const signedBy = (key: KeyObject, isEdwards = false, text = `${seconds}${body}`) => ({
  "x-timestamp": String(seconds),
  "x-signature": sign(isEdwards ? null : "sha256", Buffer.from(text), key).toString("base64"),
});

test("a public key is read as PEM or base 64 of its DER, unless weak or private", () => {
  const scheme = createPublicKeyScheme(base);
  const [other] = [generateKeyPairSync("ec", { namedCurve: "P-256" })];
  for (const { publicKey, privateKey, isEdwards } of [
    { ...generateKeyPairSync("rsa", { modulusLength: 2048 }), isEdwards: false },
    { ...generateKeyPairSync("ec", { namedCurve: "P-256" }), isEdwards: false },
    { ...generateKeyPairSync("ed25519"), isEdwards: true },
  ]) {
    const headers = signedBy(privateKey, isEdwards);
    for (const secret of [der(publicKey), pem(publicKey)]) {
      assert.equal(scheme.secretProblem(secret), null);
      assert.equal(judged(scheme, { headers, secrets: [secret] }), "verified");
      assert.equal(judged(scheme, { headers, secrets: [der(other.publicKey), secret] }), "verified");
    }
    assert.equal(judged(scheme, { headers, secrets: [der(other.publicKey)] }), "signature_mismatch");
    const late = { headers, secrets: [der(publicKey)], nowSeconds: seconds + 301 };
    assert.equal(judged(scheme, late), "timestamp_too_old");
  }
  const weak = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const privatePem = other.privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  for (const secret of [
    der(weak.publicKey),
    privatePem,
    "",
    "AAAA",
    "-----BEGIN PUBLIC KEY-----\nAAAA",
    "x".repeat(99),
  ]) {
    assert.match(scheme.secretProblem(secret) ?? "", /public key/, secret.slice(0, 40));
    assert.equal(judged(scheme, { headers: signedBy(weak.privateKey), secrets: [secret] }), "secret_unusable");
  }
});

test("SHA-1 signatures need accept_weak", () => {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const signature = sign("sha1", Buffer.from(`${seconds}${body}`), privateKey).toString("base64");
  const given = { headers: { ...signedBy(privateKey), "x-signature": signature }, secrets: [der(publicKey)] };
  assert.equal(judged(createPublicKeyScheme({ ...base, algorithm: "sha1" }), given), "secret_unusable");
  assert.equal(judged(createPublicKeyScheme({ ...base, algorithm: "sha1", acceptWeak: true }), given), "verified");
});

const sns = presets["aws-sns"];
const snsScheme = schemeOf(sns.scheme, sns.settings);
const withCertificateUrl = (address: string): Buffer => {
  const payload = JSON.parse(sns.vector.body);
  return Buffer.from(JSON.stringify({ ...payload, SigningCertURL: address }));
};
const { secret, certificate = "", atSeconds } = sns.vector;
const asSns = (given: Partial<Judged>) => ({ secrets: [secret], certificate, nowSeconds: atSeconds, ...given });

test("a certificate is taken from the addresses of the list alone", () => {
  const good = "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem";
  const at = (address: string) =>
    snsScheme.certificateAt?.({ method: "POST", url, headers: {}, body: withCertificateUrl(address) });
  assert.equal(at(good), good);
  for (const address of [
    "https://evil.example/SimpleNotificationService-1.pem",
    "https://sns.eu-central-1.amazonaws.com.evil.example/a.pem",
    "https://evil.example/sns.eu-central-1.amazonaws.com/a.pem",
    "https://sns.eu-central-1.amazonaws.com@evil.example/a.pem",
    "https://user:password@sns.eu-central-1.amazonaws.com/a.pem",
    "https://sns.eu-central-1.amazonaws.com:8443/a.pem",
    "http://sns.eu-central-1.amazonaws.com/a.pem",
    "https://sns.a.b.amazonaws.com/a.pem",
    "https://sns..amazonaws.com/a.pem",
    "https://sns.amazonaws.com/a.pem",
    "https://sns.evil.example#.amazonaws.com/a.pem",
    "https://sns.eu-central-1.amazonaws.com/a/../b.pem",
    "https://sns.eu-central-1.amazonaws.com/a.pem?x=.pem",
    "https://sns.eu-central-1.amazonaws.com/a.pem#",
    "https://sns.eu-central-1.amazonaws.com/a.txt",
    "https://sns.eu-central-1.amazonaws.com\\@evil.example/a.pem",
    "https://sns.eu-central-1.amazonaws.com/a.pem\n",
    " https://sns.eu-central-1.amazonaws.com/a.pem",
    "https://169.254.169.254/a.pem",
    "",
  ]) {
    assert.equal(at(address), null, address);
    const given = asSns({ body: withCertificateUrl(address) });
    assert.equal(judged(snsScheme, given), "certificate_not_allowed", address);
  }
  for (const confirm of ["https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=1"])
    assert.equal(snsScheme.isTrustedHost?.(confirm), true);
  for (const confirm of ["https://evil.example/?sns.eu-central-1.amazonaws.com/", "https://sns.a.b.amazonaws.com/", ""])
    assert.equal(snsScheme.isTrustedHost?.(confirm), false, confirm);
});

test("a missing, ended or future certificate verifies nothing, nor does somebody else's topic", () => {
  const text = Buffer.from(sns.vector.body);
  assert.equal(judged(snsScheme, asSns({ body: text })), "verified");
  assert.equal(judged(snsScheme, asSns({ body: text, certificate: "" })), "certificate_unusable");
  assert.equal(
    judged(snsScheme, asSns({ body: text, certificate: "-----BEGIN CERTIFICATE-----" })),
    "certificate_unusable",
  );
  for (const nowSeconds of [atSeconds - 10 * 86_400, atSeconds + 30 * 365 * 86_400])
    assert.equal(judged(snsScheme, asSns({ body: text, nowSeconds })), "certificate_unusable");
  const foreign = "arn:aws:sns:us-west-2:999999999999:MyTopic";
  assert.equal(judged(snsScheme, asSns({ body: text, secrets: [foreign] })), "signature_mismatch");
  assert.equal(judged(snsScheme, asSns({ body: text, secrets: [foreign, secret] })), "verified");
});

test("members that AWS does not sign are shown as unsigned, those that it signs as signed", () => {
  for (const pointer of ["/MessageId", "/Type", "/Message"]) assert.equal(snsScheme.covers({ pointer }), true, pointer);
  for (const pointer of ["/UnsubscribeURL", "/MessageAttributes/a", "/"])
    assert.equal(snsScheme.covers({ pointer }), false, pointer);
});

const adyen = presets.adyen;
test("a second notification beside the signed one is refused", () => {
  const scheme = schemeOf(adyen.scheme, adyen.settings);
  const payload = JSON.parse(adyen.vector.body);
  const [item] = payload.notificationItems;
  const given = (items: unknown[]) => ({
    body: Buffer.from(JSON.stringify({ ...payload, notificationItems: items })),
    secrets: [adyen.vector.secret],
  });
  assert.equal(judged(scheme, given([item])), "verified");
  for (const items of [[item, item], [item, {}], [], [[item]], [{ "0": item }]])
    assert.notEqual(judged(scheme, given(items)), "verified", JSON.stringify(items).slice(0, 60));
});

const twilio = schemeOf(presets.twilio.scheme, presets.twilio.settings);
const form = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
const twilioSigned = (text: string, headers: Readonly<Record<string, string>> = form) => ({
  ...headers,
  "x-twilio-signature": createHmac("sha1", "an auth token of twilio").update(text).digest("base64"),
});
const secrets = ["an auth token of twilio"];

test("a form is signed by its parameters in order, so that none can be added, changed or left out", () => {
  const headers = twilioSigned(`${url}A1A2B3Cü &`);
  const posted = (text: string) => judged(twilio, { headers, secrets, body: Buffer.from(text) });
  for (const text of ["B=3&A=2&A=1&C=%C3%BC+%26", "A=1&A=2&A=1&B=3&C=%c3%bc%20%26"])
    assert.equal(posted(text), "verified");
  for (const text of ["A=1&A=2&B=4&C=%C3%BC+%26", "A=1&B=3&C=%C3%BC+%26", "A=1&A=2&B=3&C=%C3%BC+%26&D=4", ""])
    assert.equal(posted(text), "signature_mismatch", text);
  const request = (text: string) => ({ method: "POST", url, headers, body: Buffer.from(text) });
  assert.equal(twilio.signedText?.(request("A=1&B=2")), twilio.signedText?.(request("B=%32&A=1&A=1")));
  assert.equal(twilio.covers({ pointer: "/A" }), false, "names and values run into one another");
  const many = Buffer.from(Array.from({ length: 1_001 }, (_, at) => `p${at}=1`).join("&"));
  assert.equal(judged(twilio, { headers, secrets, body: many }), "signature_malformed");
});

test("another body than a form is covered by its digest in the signed address", () => {
  const json = { "content-type": "application/json" };
  const address = `${url}?bodySHA256=${hash("sha256", body, "hex")}`;
  const headers = twilioSigned(address, json);
  assert.equal(judged(twilio, { headers, secrets, url: address }), "verified");
  assert.equal(judged(twilio, { headers, secrets, url: address, body: Buffer.from("{}") }), "body_digest_mismatch");
  assert.equal(judged(twilio, { headers: twilioSigned(url, json), secrets }), "body_digest_mismatch");
  assert.equal(judged(twilio, { headers: twilioSigned(url, {}), secrets, body: Buffer.alloc(0) }), "verified");
});

test("a signature over members alone is not taken for one over the body", () => {
  const mailgun = schemeOf(presets.mailgun.scheme, presets.mailgun.settings);
  assert.equal(mailgun.covers({ pointer: "/signature/token" }), true);
  assert.equal(mailgun.covers({ pointer: "/event-data/id" }), false);
  const payload = JSON.parse(presets.mailgun.vector.body);
  const other = Buffer.from(JSON.stringify({ ...payload, "event-data": { event: "forged" } }));
  const [first, second] = [Buffer.from(presets.mailgun.vector.body), other].map((text) =>
    mailgun.signedText?.({ method: "POST", url, headers: {}, body: text }),
  );
  assert.equal(first, second, "one captured webhook is one content");
  const scheme = createHmacScheme({ signedContent: "{body:/a}", acceptWeak: true });
  for (const text of ["", "{", "null", '{"a":{}}', '{"a":[1,2]}'])
    assert.notEqual(
      judged(scheme, { headers: { "x-signature": "sha256=00" }, secrets, body: Buffer.from(text) }),
      "verified",
    );
});
