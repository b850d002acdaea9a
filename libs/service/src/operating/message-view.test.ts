import assert from "node:assert/strict";
import { test } from "node:test";
import { maskedMessage } from "./message-view.ts";

const bodyOf = (text: string) => maskedMessage({ ce_type: "webhook.received.v1" }, Buffer.from(text)).body;

test("an operator sees the digits of a number that a double would change", () => {
  assert.deepEqual(bodyOf('{"payload":{"order":820982911946154508,"price":1.10,"count":7,"all":[1e400]}}'), {
    payload: { order: "820982911946154508", price: "1.10", count: 7, all: ["1e400"] },
  });
});
