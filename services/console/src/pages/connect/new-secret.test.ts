import assert from "node:assert/strict";
import { test } from "node:test";
import { presets } from "@signalbox/webhook-signatures";
import { isChosenByOwner, newSecret } from "./new-secret.ts";

test("a new secret has the form that its scheme reads; public keys are never made up", () => {
  assert.match(newSecret({ scheme: "github", settings: {} }) ?? "", /^[0-9a-f]{64}$/);
  assert.match(newSecret({ scheme: "hmac", settings: { secret_encoding: "base64" } }) ?? "", /^[\w+/]{43}=$/);
  assert.match(newSecret({ scheme: "standard-webhooks", settings: {} }) ?? "", /^whsec_[\w+/]{43}=$/);
  assert.match(newSecret({ scheme: "token", settings: { token_format: "basic" } }) ?? "", /^signalbox:[0-9a-f]{64}$/);
  assert.equal(newSecret({ scheme: "ed25519", settings: {} }), null);
  assert.notEqual(newSecret({ scheme: "github", settings: {} }), newSecret({ scheme: "github", settings: {} }));
});

test("the senders whose secret the owner chooses are told from those that show theirs", () => {
  assert.ok(isChosenByOwner(presets.github.secretFrom));
  assert.ok(isChosenByOwner(presets.chargebee.secretFrom));
  assert.ok(!isChosenByOwner(presets.stripe.secretFrom));
});
