import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { testPerson } from "@signalbox/testing";
import { type Preset, type PresetName, presets } from "@signalbox/webhook-signatures";
import { Webhook } from "standardwebhooks";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { signedAs } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

const json = { "content-type": "application/json" };
const secret = "a secret of at least sixteen bytes";
const signingToken = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const create = (body: object, who = testPerson()) => ingest.newSource(who, { secret, ...body });
const receivedBy = async (who: ReturnType<typeof testPerson>, { id }: { id: string }) =>
  (await ingest.send(who, "GET", `${sourcesPath}/${id}/received`)).body.items;

/** A webhook of GitLab 19, with a secret token and a signing token. */
function gitlabWebhook(token: string, signing: string, sent = new Date()) {
  const [id, body] = [crypto.randomUUID(), '{"object_kind":"push"}'];
  const headers = {
    ...json,
    "x-gitlab-event": "Push Hook",
    "x-gitlab-token": token,
    "idempotency-key": id,
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(sent.getTime() / 1_000)),
    "webhook-signature": new Webhook(signing).sign(id, sent, body),
  };
  return { headers, body };
}

test("GitLab with a signing token is verified by its signature, whatever its secret token", async () => {
  const who = testPerson();
  const source = await create({ preset: "gitlab", secret: signingToken }, who);
  const otherKey = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
  const right = gitlabWebhook(secret, signingToken);
  const old = gitlabWebhook(secret, signingToken, new Date(Date.now() - 600_000));
  const changed = { ...gitlabWebhook(secret, signingToken), body: '{"object_kind":"tag_push"}' };
  const showing = gitlabWebhook(signingToken, otherKey);
  const statuses = [];
  for (const webhook of [right, old, changed, showing]) statuses.push((await ingest.post(source, webhook)).status);
  assert.deepEqual(statuses, [202, 401, 401, 401]);
  const [received] = await receivedBy(who, source);
  assert.deepEqual([received.delivery_id, received.event_type], [right.headers["idempotency-key"], "Push Hook"]);
});

test("GitLab's secret token is accepted beside its signing token while they overlap", async () => {
  const who = testPerson();
  const source = await create({ preset: "gitlab" }, who);
  const tokenAlone = { headers: { ...json, "x-gitlab-token": secret }, body: '{"object_kind":"note"}' };
  assert.equal((await ingest.post(source, gitlabWebhook(secret, signingToken))).status, 202, "a signature is no harm");
  const rotate = `${sourcesPath}/${source.id}/secret/rotate`;
  await ingest.send(who, "POST", rotate, { body: { secret: signingToken, overlap_seconds: 3_600 } });
  assert.equal((await ingest.post(source, tokenAlone)).status, 202);
  assert.equal((await ingest.post(source, gitlabWebhook("another token of gitlab", signingToken))).status, 202);
  const later = { ...tokenAlone, body: '{"object_kind":"issue"}' };
  await ingest.send(who, "DELETE", `${sourcesPath}/${source.id}/secret/previous`);
  assert.equal((await ingest.post(source, later)).status, 401);
});

const ask = (method: string, { ingest_path }: { ingest_path: string }, query = "") =>
  ingest.send(null, method, `${ingest_path}${query}`, { headers: {} });

test("HEAD of Mandrill, SurveyMonkey, Trello and Intercom is 200 at a live source of theirs alone", async () => {
  const who = testPerson();
  for (const preset of ["mailchimp-transactional", "surveymonkey", "trello", "intercom"]) {
    const source = await create({ preset }, who);
    assert.equal((await ask("HEAD", source)).status, 200, preset);
    assert.equal((await ask("GET", source)).status, 404, preset);
    await ingest.send(who, "PATCH", `${sourcesPath}/${source.id}`, { body: { status: "paused" } });
    assert.equal((await ask("HEAD", source)).status, 404, `paused ${preset}`);
  }
  for (const preset of ["linear", "dropbox", "twilio"])
    assert.equal((await ask("HEAD", await create({ preset }))).status, 404, preset);
  assert.equal((await ask("HEAD", { ingest_path: "/ingest/src_unknown" })).status, 404);
});

test("SharePoint gets its validationtoken back", async () => {
  for (const preset of ["sharepoint", "microsoft-graph"]) {
    const { status, text } = await ask("POST", await create({ preset }), "?validationtoken=abc-1");
    assert.deepEqual([status, text], [200, "abc-1"], preset);
  }
  assert.equal((await ask("POST", await create({ preset: "linear" }), "?validationtoken=abc")).status, 401);
});

/** Signs as Twilio does: the URL and the sorted members of the form. */
const twilioSignature = (url: string, form: Readonly<Record<string, string>> = {}) => {
  const members = Object.entries(form).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return createHmac("sha1", secret)
    .update(`${url}${members.flat().join("")}`)
    .digest("base64");
};

test("Twilio's signature counts with the port of the address and without it", async () => {
  const form = { CallSid: "CA1", CallStatus: "ringing" };
  for (const [public_url, signed] of [
    ["https://hub.example/calls", "https://hub.example:443/calls"],
    ["https://hub.example:8443/calls", "https://hub.example/calls"],
    ["http://hub.example/calls?a=1:2", "http://hub.example:80/calls?a=1:2"],
    ["https://hub.example/calls", "https://hub.example/calls"],
  ] as const) {
    const source = await create({ preset: "twilio", settings: { public_url } });
    const post = (url: string) =>
      ingest.post(source, {
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "x-twilio-signature": twilioSignature(url, form),
        },
        body: new URLSearchParams(form).toString(),
      });
    assert.equal((await post(signed)).status, 204, signed);
    assert.equal((await post(signed.replace("hub.example", "hub.example:8444"))).status, 401);
    assert.equal((await post(signed.replace("/calls", "/other"))).status, 401);
  }
});

test("the type of Twilio's webhook is its MessageStatus, CallStatus or SmsStatus", async () => {
  const who = testPerson();
  const source = await create({ preset: "twilio", settings: { public_url: "https://hub.example/" } }, who);
  for (const form of [
    { CallStatus: "ringing" },
    { SmsStatus: "received" },
    { MessageStatus: "sent", SmsStatus: "x" },
  ]) {
    const body = new URLSearchParams(form).toString();
    const signature = twilioSignature("https://hub.example/", form as Record<string, string>);
    const headers = { "content-type": "application/x-www-form-urlencoded", "x-twilio-signature": signature };
    assert.equal((await ingest.post(source, { headers, body })).status, 204);
  }
  const types = (await receivedBy(who, source)).map(({ event_type }: { event_type: string }) => event_type);
  assert.deepEqual(types.toSorted(), ["received", "ringing", "sent"]);
});

test("Twilio's GET is a webhook whose query is the form", async () => {
  const who = testPerson();
  const source = await create({ preset: "twilio" }, who);
  const base = ingest.context.configuration.get("http.base-url");
  const get = (query: string, headers: Record<string, string>) =>
    ingest.send(null, "GET", `${source.ingest_path}?${query}`, { headers });
  for (const call of ["CA1", "CA2"]) {
    const query = `CallSid=${call}&CallStatus=ringing`;
    const signature = twilioSignature(`${base}${source.ingest_path}?${query}`);
    assert.equal((await get(query, { "x-twilio-signature": signature })).status, 204);
    assert.equal((await get(`${query}0`, { "x-twilio-signature": signature })).status, 401);
  }
  assert.equal((await get("CallSid=CA1", {})).status, 401);
  const [event] = await ingest.eventsOf(who.accountId, 1, "webhook.received");
  assert.deepEqual(Object(event?.data).payload, { CallSid: "CA1", CallStatus: "ringing" });
  assert.equal((await receivedBy(who, source)).length, 2);
});

test("the request of a repeated GET is kept with its repetition", async () => {
  const source = await create({ preset: "twilio" });
  const url = `${source.ingest_path}?CallSid=CA1&CallStatus=ringing`;
  const signature = twilioSignature(`${ingest.context.configuration.get("http.base-url")}${url}`);
  const get = () => ingest.send(null, "GET", url, { headers: { "x-twilio-signature": signature } });
  await get();
  const { headers } = await get();
  const text = `select request_id as "requestId" from received_repetitions where source_id = $1`;
  const { rows } = await ingest.pool.query({ name: "", text }, [source.id]);
  assert.deepEqual(rows, [{ requestId: headers.get("x-request-id") }]);
});

/** An attempt of a sender: its headers, its body and the seconds since it was signed. */
type Attempt = readonly [headers: Record<string, string>, body: string, ageSeconds?: number];

/** Attempts of one webhook that differ as the sender documents it. */
const retries: readonly (readonly [PresetName, string, Attempt, Attempt])[] = [
  [
    ...(["box", "another id in the header"] as const),
    [{ "box-delivery-id": "a-1" }, '{"id":"eb0c","trigger":"FILE.UPLOADED"}', 120],
    [{ "box-delivery-id": "a-2" }, '{"id":"eb0c","trigger":"FILE.UPLOADED"}'],
  ],
  [
    "notion",
    "the number of the attempt",
    [{}, '{"id":"n-1","attempt_number":1}'],
    [{}, '{"id":"n-1","attempt_number":2}'],
  ],
  [
    ...(["zendesk", "a later time"] as const),
    [{ "x-zendesk-webhook-invocation-id": "z-1" }, '{"type":"zen:event-type:user.created"}', 60],
    [{ "x-zendesk-webhook-invocation-id": "z-1" }, '{"type":"zen:event-type:user.created"}'],
  ],
  [
    ...(["bitbucket", "the number of the attempt"] as const),
    [{ "x-request-uuid": "b-1", "x-event-key": "repo:push", "x-attempt-number": "1" }, '{"push":{}}'],
    [{ "x-request-uuid": "b-1", "x-event-key": "repo:push", "x-attempt-number": "2" }, '{"push":{}}'],
  ],
  ["pusher", "nothing", [{}, pusherBody(400)], [{}, pusherBody(400)]],
  ["mux", "a later time", [{}, '{"id":"m-1"}', 60], [{}, '{"id":"m-1"}']],
  ["persona", "a later time", [{}, '{"data":{"id":"evt_1"}}', 60], [{}, '{"data":{"id":"evt_1"}}']],
];

function pusherBody(ageSeconds: number): string {
  return JSON.stringify({ time_ms: Math.floor(Date.now() / 60_000) * 60_000 - ageSeconds * 1_000, events: [] });
}

for (const [preset, difference, ...attempts] of retries) {
  test(`${preset}: a webhook that is sent again counts once, with ${difference}`, async () => {
    const who = testPerson();
    const known: Preset = presets[preset];
    const source = await create({ preset }, who);
    for (const [own, body, ageSeconds = 0] of attempts) {
      const ms = Date.now() - ageSeconds * 1_000;
      const time = known.settings.timeUnit === "rfc3339" ? new Date(ms).toISOString() : String(Math.floor(ms / 1_000));
      const signed = signedAs(known, secret, body, time);
      const { status } = await ingest.post(source, { body, headers: { ...signed.headers, ...own } });
      assert.equal(status, known.settings.answer?.status ?? 202);
    }
    const [received, ...others] = await receivedBy(who, source);
    assert.deepEqual([received.repeated, others.length], [1, 0]);
  });
}

test("persona: a signature in either of two groups of pairs verifies", async () => {
  const source = await create({ preset: "persona" });
  const time = String(Math.floor(Date.now() / 1_000));
  const { headers, body } = signedAs(presets.persona, secret, '{"data":{"id":"evt_1"}}', time);
  const right = headers["persona-signature"] ?? "";
  const [wrong, old] = [`t=${time},v1=${"0".repeat(64)}`, right.replace(time, String(Number(time) - 9_000))];
  const statuses = [];
  for (const value of [
    `${wrong} ${right}`,
    `${right} ${wrong}`,
    `${wrong} ${wrong}`,
    `${old} ${wrong}`,
    `${old} ${right}`,
  ])
    statuses.push((await ingest.post(source, { body, headers: { ...headers, "persona-signature": value } })).status);
  assert.deepEqual(statuses, [202, 202, 401, 401, 401]);
});
