import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { hurriedRules } from "./hurried-rules.ts";

const ruleOf = (alert: string): { readonly expr: string; readonly for?: string } =>
  parse(hurriedRules(alert)).groups[0].rules[0];

test("windows, ages and the time that must pass are a sixtieth, and counts stay", () => {
  assert.match(ruleOf("ConsumerLag").expr, /signalbox_consumer_lag_seconds\{job="signalbox"\}\) > 5$/);
  assert.equal(ruleOf("ConsumerLag").for, "5s");
  assert.match(ruleOf("DeadLetters").expr, /\[60s\]\)\) > 0 or .* offset 60s\) > 0$/);
  assert.match(ruleOf("DiskFull").expr, /< 0\.05/);
});
