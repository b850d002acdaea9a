import assert from "node:assert/strict";
import { test } from "node:test";
import { originalOf } from "./original-body.ts";

const envelope = (data: string) =>
  Buffer.from(`{"id":"e","type":"webhook.received","data":${data},"api_version":"v1"}`);

test("JSON of a partner comes out byte for byte: digits, escapes, order and white space", () => {
  for (const payload of [
    `{"amount": 1.50, "id":12345678901234567890,\n "name":"\\u00e9 \\"}],"}`,
    `[1, {"data": {"payload": 2}}]`,
    `"a text: {"`,
    "17",
    "null",
    "{}",
  ]) {
    const before = `"note":"\\"data\\": {","headers":{"x-hook":"7","payload":"9"}`;
    const { body, headers } = originalOf(envelope(`{${before},"payload":${payload}}`));
    assert.deepEqual([body.toString(), headers], [payload, { "x-hook": "7", payload: "9" }]);
    assert.equal(originalOf(envelope(`{ "payload" : ${payload} , "z":1 }`)).body.toString(), payload);
  }
});

test("text and bytes come out as they were", () => {
  assert.equal(originalOf(envelope(`{"payload_text":"a=1&b=\\n"}`)).body.toString(), "a=1&b=\n");
  assert.deepEqual(originalOf(envelope(`{"payload_base64":"AP8="}`)).body, Buffer.of(0, 255));
});
