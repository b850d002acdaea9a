import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { presets } from "./presets/presets.ts";
import { answerChallenge, answerHandshakeRequest } from "./schemes/handshakes.ts";
import { type SchemeName, schemeOf } from "./schemes/schemes.ts";

/** A request that a sender's own library signed or verified, as `record-senders.mjs` recorded it: none of it is ours. */
interface Recording {
  readonly package: string;
  readonly version: string;
  readonly by: "signed" | "verified";
  readonly scheme: { readonly name: SchemeName } | { readonly preset: keyof typeof presets };
  readonly secret: string;
  readonly otherSecret: string;
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const file = new URL("recorded-senders.json", import.meta.url);
const { nowSeconds, recordings }: { nowSeconds: number; recordings: Recording[] } = JSON.parse(
  await readFile(file, "utf8"),
);

function schemeFor(scheme: Recording["scheme"]) {
  if ("name" in scheme) return schemeOf(scheme.name);
  return schemeOf(presets[scheme.preset].scheme, presets[scheme.preset].settings);
}

for (const { package: name, version, by, scheme, secret, otherSecret, url, body, headers } of recordings) {
  test(`a request that ${name} ${version} ${by} is verified, but not with another body or secret`, () => {
    const judged = (text: string, key: string) =>
      schemeFor(scheme).verify(
        { method: "POST", url, headers, body: Buffer.from(text) },
        { secrets: [key], nowSeconds, toleranceSeconds: 300 },
      ).verified;
    assert.equal(judged(body, secret), true);
    assert.equal(judged(`${body} `, secret), false);
    assert.equal(judged(body, otherSecret), false);
  });
}

test("the library of every sender is recorded", () => {
  assert.deepEqual(recordings.map((recording) => recording.package).sort(), [
    "@hubspot/api-client",
    "@linear/sdk",
    "@octokit/webhooks",
    "@shopify/shopify-api",
    "@slack/bolt",
    "discord-interactions",
    "standardwebhooks",
    "stripe",
    "svix",
  ]);
});

test("Zoom gets its token back with the proof that we know the secret", () => {
  const plainToken = "qgg8vlvZRS6UYooatFL8Aw";
  const question = { event: "endpoint.url_validation", payload: { plainToken } };
  const encryptedToken = createHmac("sha256", "a_zoom_secret_token").update(plainToken).digest("hex");
  const answer = answerChallenge("zoom", question, "a_zoom_secret_token");
  assert.deepEqual(JSON.parse(answer?.text ?? ""), { plainToken, encryptedToken });
  assert.equal(answer?.contentType, "application/json");
});

test("Zoom's proof is given for a token alone, never for a text that could be a signed webhook", () => {
  for (const plainToken of ['v0:1700000000:{"event":"meeting.started"}', "", 7.5, null, {}, "x".repeat(129)]) {
    const question = { event: "endpoint.url_validation", payload: { plainToken } };
    assert.equal(answerChallenge("zoom", question, "a_zoom_secret_token"), null, String(plainToken));
  }
  const other = { event: "meeting.started", payload: { plainToken: "abc" } };
  assert.equal(answerChallenge("zoom", other, "a_zoom_secret_token"), null);
});

test("Discord's PING is answered in its own form, an interaction gets no such answer", () => {
  assert.equal(answerChallenge("discord", { type: 1 }, "")?.text, '{"type":1}');
  assert.equal(answerChallenge("discord", { type: 0, version: 1, application_id: "7" }, "")?.status, 204);
  for (const payload of [{ type: 2 }, { type: 0 }, {}, null, []])
    assert.equal(answerChallenge("discord", payload, ""), null);
});

test("an unsigned verification request is no challenge", () => {
  for (const name of ["meta", "dropbox", "microsoft-graph", "cloudevents"] as const) {
    assert.equal(answerChallenge(name, { challenge: "x", type: 1 }, "secret"), null);
  }
});

const asked = (method: string, query: string, headers: Record<string, string> = {}) => ({
  method,
  query: new URLSearchParams(query),
  headers,
});

const proofs = (verifyToken: string | null) => ({ verifyToken, secret: "a secret of the sender" });

test("Meta, Dropbox, Microsoft and CloudEvents get their verification requests answered in their own forms", () => {
  const hub = "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=meatyhamhock";
  assert.equal(answerHandshakeRequest("meta", asked("GET", hub), proofs("meatyhamhock"))?.text, "1158201444");
  assert.equal(answerHandshakeRequest("dropbox", asked("GET", "challenge=abc%20123"), proofs(null))?.text, "abc 123");
  const token = "Validation%3A%20Testing%20client%20application%20reachability%20for%20subscription";
  const graph = answerHandshakeRequest("microsoft-graph", asked("POST", `validationToken=${token}`), proofs(null));
  assert.equal(graph?.text, "Validation: Testing client application reachability for subscription");
  const events = answerHandshakeRequest(
    "cloudevents",
    asked("OPTIONS", "", { "webhook-request-origin": "eg.example" }),
    proofs(null),
  );
  assert.deepEqual(events?.headers, {
    Allow: "POST",
    "WebHook-Allowed-Origin": "eg.example",
    "WebHook-Allowed-Rate": "*",
  });
});

test("a request in another form, without the token or with an unsafe echo gets no answer", () => {
  const hub = (token: string, challenge = "1") =>
    `hub.mode=subscribe&hub.challenge=${challenge}&hub.verify_token=${token}`;
  for (const [name, question, token] of [
    ["meta", asked("GET", hub("wrong")), "right"],
    ["meta", asked("GET", hub("")), null],
    ["meta", asked("POST", hub("right")), "right"],
    ["meta", asked("GET", hub("right").replace("subscribe", "unsubscribe")), "right"],
    ["meta", asked("GET", hub("right", "")), "right"],
    ["meta", asked("GET", hub("right", "x".repeat(1_025))), "right"],
    ["meta", asked("GET", hub("right", "%0d%0a")), "right"],
    ["dropbox", asked("GET", ""), null],
    ["dropbox", asked("POST", "challenge=1"), null],
    ["microsoft-graph", asked("GET", "validationToken=1"), null],
    ["microsoft-graph", asked("POST", "validationToken=%00"), null],
    ["cloudevents", asked("OPTIONS", ""), null],
    ["cloudevents", asked("OPTIONS", "", { "webhook-request-origin": "a b" }), null],
    ["slack", asked("GET", "challenge=1"), null],
  ] as const) {
    assert.equal(answerHandshakeRequest(name, question, proofs(token)), null, `${name} ${question.query}`);
  }
});
