import assert from "node:assert/strict";
import { createHmac, hash, sign } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { createCertificates, eventually, testPerson } from "@signalbox/testing";
import type { presets } from "@signalbox/webhook-signatures";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";

/** A sender's server: its certificate, and the addresses that confirm a subscription. */
interface Sender {
  readonly server: Server;
  readonly requests: string[];
  readonly url: string;
  /** Answers of the next requests, before the usual ones. */
  readonly statuses: number[];
}

const certificates = await createCertificates();
const [privateKey, certificate] = await Promise.all(
  [certificates.keyFile, certificates.certFile].map((file) => readFile(file, "utf8")),
);
await certificates.remove();
let [ingest, sender]: [Harness, Sender] = [] as never;
before(async () => {
  sender = await startSender();
  ingest = await startIngest({ "webhook-ingest.outbound.allow": new URL(sender.url).host });
});
after(async () => {
  await ingest.close();
  sender.server.closeAllConnections();
  await new Promise((resolve) => sender.server.close(resolve));
});

async function startSender(): Promise<Sender> {
  const [requests, statuses]: [string[], number[]] = [[], []];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    const status = statuses.shift() ?? (request.url?.startsWith("/absent") ? 404 : 200);
    response.writeHead(status).end(status === 200 ? certificate : "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, requests, statuses, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const topic = "arn:aws:sns:us-west-2:123456789012:MyTopic";
type Person = ReturnType<typeof testPerson>;
/** A source with the preset of SNS, whose certificates come from the sender of this test. */
const newSource = (who: Person, settings: object = {}) =>
  ingest.newSource(who, {
    preset: "aws-sns",
    secret: topic,
    settings: { certificate_urls: [`${sender.url}/*.pem`], ...settings },
  });

const signedNames = ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];

function message(more: Readonly<Record<string, string>> = {}, algorithm = "sha256") {
  const content: Record<string, string> = {
    Type: "Notification",
    MessageId: crypto.randomUUID(),
    TopicArn: topic,
    Message: "Hello",
    Timestamp: new Date().toISOString(),
    ...more,
  };
  const text = signedNames.flatMap((name) => (name in content ? [`${name}\n${content[name]}\n`] : [])).join("");
  const Signature = sign(algorithm, Buffer.from(text), privateKey ?? "").toString("base64");
  const body = { SigningCertURL: `${sender.url}/good.pem`, ...content, Signature };
  return { headers: { "content-type": "text/plain; charset=UTF-8" }, body: JSON.stringify(body) };
}

const listOf = async (who: Person, { id }: { id: string }, list: "received" | "rejections") =>
  (await ingest.send(who, "GET", `${sourcesPath}/${id}/${list}`)).body.items;
const reasonOf = (who: Person, source: { id: string }) =>
  eventually(async () => (await listOf(who, source, "rejections"))[0]?.reason ?? null);

test("a topic of AWS SNS is verified as it was created, with SignatureVersion 1, and with 2", async () => {
  const source = await newSource(testPerson());
  const versions = [
    message({ SignatureVersion: "1" }, "sha1"),
    message({ SignatureVersion: "2" }),
    message({ SignatureVersion: "1" }, "md5"),
  ];
  const statuses = [];
  for (const webhook of versions) statuses.push((await ingest.post(source, webhook)).status);
  assert.deepEqual(statuses, [200, 200, 401]);
  const strict = await newSource(testPerson(), { other_algorithm: null });
  assert.equal((await ingest.post(strict, message({}, "sha1"))).status, 401);
});

test("a webhook with the key of a certificate of the list is received once, its id and type signed", async () => {
  const who = testPerson();
  const source = await newSource(who);
  const webhook = message();
  assert.equal((await ingest.post(source, webhook)).status, 200);
  assert.equal((await ingest.post(source, webhook)).status, 200);
  const unsigned = { ...JSON.parse(webhook.body), MessageAttributes: { kind: { Value: "forged" } } };
  assert.equal((await ingest.post(source, { ...webhook, body: JSON.stringify(unsigned) })).status, 200);
  const items = await listOf(who, source, "received");
  assert.equal(items.length, 1, "what is not signed makes no other webhook");
  const [{ event_type, delivery_id, delivery_id_signed, event_type_signed }] = items;
  assert.deepEqual([event_type, delivery_id_signed, event_type_signed], ["Notification", true, true]);
  assert.equal(delivery_id, JSON.parse(webhook.body).MessageId);
  assert.equal(sender.requests.filter((path) => path === "/good.pem").length, 1, "the certificate is read once");
});

test("a subscription is confirmed at the sender before it is answered, and only at a host of the list", async () => {
  const who = testPerson();
  const source = await newSource(who);
  const confirmation = (SubscribeURL: string) =>
    message({ Type: "SubscriptionConfirmation", Token: "t-1", SubscribeURL });
  const path = `/?Action=ConfirmSubscription&Token=${crypto.randomUUID()}`;
  const answer = await ingest.post(source, confirmation(`${sender.url}${path}`));
  assert.deepEqual([answer.status, answer.text], [200, ""]);
  assert.ok(sender.requests.includes(path));
  assert.deepEqual(await listOf(who, source, "received"), []);

  const elsewhere = await ingest.post(source, confirmation("http://127.0.0.1:1/confirm"));
  assert.equal(elsewhere.status, 401);
  assert.equal(await reasonOf(who, source), "certificate_not_allowed");
  sender.statuses.push(500);
  assert.equal((await ingest.post(source, confirmation(`${sender.url}${path}`))).status, 503, "SNS asks again");
  const before = sender.requests.length;
  const { body } = confirmation(`${sender.url}/forged`);
  const forged = await ingest.post(source, { ...message(), body: body.replace('"t-1"', '"t-2"') });
  assert.deepEqual([forged.status, sender.requests.length], [401, before]);
});

test("no request reaches an address outside of the list, and a missing certificate verifies nothing", async () => {
  const who = testPerson();
  const source = await newSource(who);
  const before = sender.requests.length;
  for (const address of [`${sender.url}/secret.txt`, `${sender.url}/a/b.pem`, `${sender.url}/good.pem?x=1`, "x"]) {
    assert.equal((await ingest.post(source, message({ SigningCertURL: address }))).status, 401, address);
    assert.equal(await reasonOf(who, source), "certificate_not_allowed");
  }
  assert.equal(sender.requests.length, before);
  const absent = message({ SigningCertURL: `${sender.url}/absent.pem` });
  for (let tries = 0; tries < 3; tries++) assert.equal((await ingest.post(source, absent)).status, 401);
  assert.equal(sender.requests.length, before + 1, "a missing certificate is asked for once");
  sender.statuses.push(500);
  const away = message({ SigningCertURL: `${sender.url}/away.pem` });
  assert.equal((await ingest.post(source, away)).status, 503, "nothing proves it wrong");
});

test("the topic of somebody else is refused, although the same sender signed it", async () => {
  const who = testPerson();
  const source = await newSource(who);
  const foreign = message({ TopicArn: "arn:aws:sns:us-west-2:999999999999:Other" });
  assert.equal((await ingest.post(source, foreign)).status, 401);
  assert.equal(await reasonOf(who, source), "signature_mismatch");
});

test("settings of a certificate, and a signature that leaves the body open, are checked with their names", async () => {
  const create = async (body: object) => {
    const { status, body: answer } = await ingest.send(testPerson(), "POST", sourcesPath, {
      body: { name: "Shop", secret: topic, ...body },
    });
    return [status, ...(answer.error?.details ?? []).map(({ field }: { field: string }) => field)];
  };
  const from = { key_format: "certificate", certificate_from: { header: "x-cert" } };
  for (const [body, fields] of [
    [
      { scheme: "ed25519", settings: { key_format: "certificate" } },
      ["settings.certificate_from", "settings.certificate_urls"],
    ],
    [
      { scheme: "ed25519", settings: { ...from, certificate_urls: ["https://*/a.pem"] } },
      ["settings.certificate_urls[0]"],
    ],
    [
      { scheme: "ed25519", settings: { ...from, certificate_urls: ["https://*.com/a.pem"] } },
      ["settings.certificate_urls[0]"],
    ],
    [{ scheme: "hmac", settings: { signed_content: "{body:/id}" } }, ["settings.signed_content"]],
    [{ scheme: "hmac", settings: { signed_content: "{crc32}" } }, ["settings.signed_content"]],
    [{ scheme: "hmac", settings: from }, ["settings.key_format", "settings.certificate_from"]],
    [{ scheme: "ed25519", settings: { ...from, key_format: "spki" } }, ["settings.certificate_from"]],
    [{ scheme: "ed25519", settings: { algorithm: "sha512" } }, ["settings.algorithm"]],
    [{ scheme: "ed25519", settings: { key_format: "spki" } }, ["secret"]],
    [{ preset: "google-pubsub" }, ["settings.audience", "settings.required_claims"]],
  ] as const)
    assert.deepEqual(await create(body), [422, ...fields], JSON.stringify(body));
});

test("Twilio's form is verified with its address, and its members are not signed", async () => {
  const who = testPerson();
  const token = "0123456789abcdef0123456789abcdef";
  const source = await ingest.newSource(who, { preset: "twilio", secret: token });
  const address = `${ingest.context.configuration.get("http.base-url")}${source.ingest_path}`;
  const digest = (text: string) => createHmac("sha1", token).update(text).digest("base64");
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const post = (id: string, body: string, text: string) =>
    ingest.post(source, {
      headers: { ...form, "i-twilio-idempotency-token": id, "x-twilio-signature": digest(text) },
      body,
    });
  const text = `${address}MessageSidSM1SmsStatusdelivered`;
  const answer = await post("t-1", "SmsStatus=delivered&MessageSid=SM1", text);
  assert.deepEqual([answer.status, answer.text], [204, ""]);
  assert.equal((await post("t-2", "MessageSid=%53M1&SmsStatus=delivered", text)).status, 204);
  assert.equal((await post("t-3", "MessageSid=SM2&SmsStatus=delivered", text)).status, 401);
  const items = await listOf(who, source, "received");
  assert.equal(items.length, 1, "the same signature in other bytes is a repetition");
  const [{ event_type, delivery_id, delivery_id_signed, event_type_signed }] = items;
  assert.deepEqual(
    [event_type, delivery_id, delivery_id_signed, event_type_signed],
    ["delivered", "t-1", false, false],
  );

  const json = '{"a":1}';
  const query = `?bodySHA256=${hash("sha256", json, "hex")}`;
  const signed = { "content-type": "application/json", "x-twilio-signature": digest(`${address}${query}`) };
  const path = { ingest_path: `${source.ingest_path}${query}` };
  assert.equal((await ingest.post(path, { headers: signed, body: json })).status, 204);
  assert.equal((await ingest.post(path, { headers: signed, body: '{"a":2}' })).status, 401);
});

test("Mailgun's token counts once, however old its event is", async () => {
  const who = testPerson();
  const key = "a webhook signing key of mailgun";
  const source = await ingest.newSource(who, { preset: "mailgun", secret: key });
  const post = (event: string, token: string, ageSeconds = 0) => {
    const timestamp = String(Math.floor(Date.now() / 1_000) - ageSeconds);
    const signature = createHmac("sha256", key).update(`${timestamp}${token}`).digest("hex");
    const body = JSON.stringify({ signature: { timestamp, token, signature }, "event-data": { event } });
    return ingest.post(source, { headers: { "content-type": "application/json" }, body });
  };
  assert.equal((await post("delivered", "t-1")).status, 200);
  assert.equal((await post("forged", "t-1")).status, 200);
  assert.equal((await post("opened", "t-2", 8 * 3_600)).status, 200);
  const items = await listOf(who, source, "received");
  assert.deepEqual(
    items.map((item: Record<string, unknown>) => [item.event_type, item.delivery_id, item.delivery_id_signed]),
    [
      ["opened", "t-2", true],
      ["delivered", "t-1", true],
    ],
  );
  assert.equal(items[0].event_type_signed, false);
});

test("Okta's and X's verification requests are answered in their forms, Twitch's once it is signed", async () => {
  const who = testPerson();
  const secret = "a secret of at least sixteen bytes";
  const make = (preset: keyof typeof presets) => ingest.newSource(who, { preset, secret });
  const [okta, x, twitch] = await Promise.all([make("okta"), make("x"), make("twitch")]);
  const challenge = "Me_rShK8JHsTnbyYrWXCEoMGbM_zsZ6k0hLPZ_Pg";
  const headers = { "x-okta-verification-challenge": challenge };
  assert.deepEqual((await ingest.send(null, "GET", okta.ingest_path, { headers })).body, { verification: challenge });
  assert.equal((await ingest.send(null, "GET", okta.ingest_path)).status, 404);
  const crc = await ingest.send(null, "GET", `${x.ingest_path}?crc_token=abc-1`);
  const proof = createHmac("sha256", secret).update("abc-1").digest("base64");
  assert.deepEqual(crc.body, { response_token: `sha256=${proof}` });
  for (const token of ["", '{"tweet_create_events":[]}', "a b", "x".repeat(129)]) {
    const { status } = await ingest.send(null, "GET", `${x.ingest_path}?crc_token=${encodeURIComponent(token)}`);
    assert.equal(status, 404, "only what can be no webhook is signed");
  }
  const body = JSON.stringify({
    challenge: "pogchamp-kappa-360noscope",
    subscription: { id: "f1c2a387", type: "a.b" },
  });
  const [id, time] = ["m-1", new Date().toISOString()];
  const signature = createHmac("sha256", secret).update(`${id}${time}${body}`).digest("hex");
  const signed = {
    "content-type": "application/json",
    "twitch-eventsub-message-id": id,
    "twitch-eventsub-message-timestamp": time,
    "twitch-eventsub-message-signature": `sha256=${signature}`,
  };
  const answer = await ingest.post(twitch, { headers: signed, body });
  assert.deepEqual([answer.status, answer.text], [200, "pogchamp-kappa-360noscope"]);
  const other = { ...signed, "twitch-eventsub-message-id": "m-2" };
  assert.equal((await ingest.post(twitch, { headers: other, body })).status, 401);
});
