import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { curlText } from "./curl-text.ts";

const base = "https://signalbox.example/below/";

test("the curl of a list has its filters without what is not set", () => {
  const text = curlText(base, { path: "api/v1/webhooks/deliveries", query: { status: "exhausted", type: undefined } });
  assert.equal(
    text,
    `curl -s -H "X-API-Key: $SIGNALBOX_API_KEY" 'https://signalbox.example/below/api/v1/webhooks/deliveries?status=exhausted'`,
  );
});

test("a shell reads back the very body, with quotes and substitutions in it", () => {
  const body = { text: 'it\'s $(id) `id` "$HOME" \\ \n' };
  const text = curlText(base, { method: "POST", path: "api/v1/webhooks/events", body });
  const [, data = ""] = /-d ('[\s\S]*') 'https/.exec(text) ?? [];
  assert.deepEqual(JSON.parse(execFileSync("sh", ["-c", `printf %s ${data}`], { encoding: "utf8" })), body);
});
