import assert from "node:assert/strict";
import { test } from "node:test";
import { readPayload } from "./read-payload.ts";

const read = (body: string | Buffer, type: string | null, allowed: string[] | null = null) =>
  readPayload(Buffer.from(body as string), type, allowed);

test("each media type is read as what it is", () => {
  assert.deepEqual(read('{"a":0}', "application/json; charset=utf-8"), { read: { payload: { a: 0 } } });
  assert.deepEqual(read("null", "application/cloudevents+json"), { read: { payload: null } });
  assert.deepEqual(read("a=1&b=2", "application/x-www-form-urlencoded"), { read: { payload_text: "a=1&b=2" } });
  assert.deepEqual(read(Buffer.from([0, 255]), "application/octet-stream"), { read: { payload_base64: "AP8=" } });
  assert.deepEqual(read('{"a":1}', null), { read: { payload: { a: 1 } } });
  assert.deepEqual(read("not json", null), { read: { payload_base64: "bm90IGpzb24=" } });
});

test("a body that is not what its type says is malformed", () => {
  for (const body of ["", "{", '{"a":1} x', Buffer.from([0x22, 0xff, 0x22])]) {
    assert.deepEqual(read(body, "application/json"), { problem: "body_malformed" });
  }
  assert.deepEqual(read(Buffer.from([0xff]), "text/plain"), { problem: "body_malformed" });
});

test("a type the scheme does not send is refused", () => {
  assert.deepEqual(read("a=1", "application/x-www-form-urlencoded", ["application/json"]), {
    problem: "media_type_not_supported",
  });
});
