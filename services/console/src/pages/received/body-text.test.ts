import assert from "node:assert/strict";
import { test } from "node:test";
import { textOfBase64, textOfBytes } from "./body-text.ts";

test("bytes are shown as text if they are, otherwise in base 64, whole whatever their size", () => {
  assert.deepEqual(textOfBytes(Buffer.from("für 100 €")), { text: "für 100 €", isText: true });
  const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => at % 256);
  assert.deepEqual(textOfBytes(bytes), { text: Buffer.from(bytes).toString("base64"), isText: false });
});

test("base 64 of a text is shown as that text", () => {
  assert.deepEqual(textOfBase64("eyJpZCI6ImQtMSJ9"), { text: '{"id":"d-1"}', isText: true });
});

test("a text that was cut inside a character is still a text", () => {
  const bytes = Buffer.from("für 100 €");
  assert.deepEqual(textOfBytes(bytes.subarray(0, -1)), { text: "für 100 ", isText: true });
});
