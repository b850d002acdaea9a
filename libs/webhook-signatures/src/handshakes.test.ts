import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { answerChallenge } from "./handshakes.ts";

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

test("Discord's PING is answered in its own form, an interaction is none", () => {
  assert.equal(answerChallenge("discord", { type: 1 }, "")?.text, '{"type":1}');
  assert.equal(answerChallenge("discord", { type: 0, version: 1, application_id: "7" }, "")?.status, 204);
  for (const payload of [{ type: 2 }, { type: 0 }, {}, null, []])
    assert.equal(answerChallenge("discord", payload, ""), null);
});

test("what is asked of an address before anything is signed is no challenge", () => {
  for (const name of ["meta", "dropbox", "microsoft-graph", "cloudevents"] as const) {
    assert.equal(answerChallenge(name, { challenge: "x", type: 1 }, "secret"), null);
  }
});
