import assert from "node:assert/strict";
import { test } from "node:test";
import { hurriedRules } from "./hurried-rules.ts";

test("the times of a rule are a sixtieth, its counts unchanged", () => {
  const lag = hurriedRules("ConsumerLag");
  assert.match(lag, /signalbox_consumer_lag_seconds\{job="signalbox"\}\) > 5\n/);
  assert.match(lag, / for: 5s\n/);
  assert.match(lag, / interval: 1s\n/);
  const letters = hurriedRules("DeadLetters").replaceAll(/\s+/g, " ");
  assert.match(letters, /\[60s\]\)\) > 0 or .* offset 60s\) > 0 /);
  assert.match(hurriedRules("DiskFull"), /< 0\.05/);
});
