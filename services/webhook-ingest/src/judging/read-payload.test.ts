import assert from "node:assert/strict";
import { test } from "node:test";
import { fittingPayload, readPayload } from "./read-payload.ts";

const read = (body: string | Buffer, type: string | null, mediaTypes: string[] | null = null, readsForms?: true) =>
  readPayload(Buffer.from(body as string), type, { mediaTypes, ...(readsForms && { readsForms }) });
const form = "application/x-www-form-urlencoded";

test("each media type is read by its own rules", () => {
  assert.deepEqual(read('{"a":0}', "application/json; charset=utf-8"), {
    payload: { json: '{"a":0}' },
    value: { a: 0 },
  });
  assert.deepEqual(read("null", "application/cloudevents+json"), { payload: { json: "null" }, value: null });
  assert.deepEqual(read("a=1&b=2", form), { payload: { text: "a=1&b=2" }, value: undefined });
  const bytes = Buffer.from([0, 255]);
  assert.deepEqual(read(bytes, "application/octet-stream"), { payload: { bytes }, value: undefined });
  assert.deepEqual(read('{"a":1}', null), { payload: { json: '{"a":1}' }, value: { a: 1 } });
  assert.deepEqual(read("not json", null), { payload: { bytes: Buffer.from("not json") }, value: undefined });
});

test("numbers keep their digits", () => {
  for (const json of ['{"id":12345678901234567890}', "[1e400,-0.10,1E5]"]) {
    assert.deepEqual((read(json, "application/json") as { payload: unknown }).payload, { json });
  }
});

test("a form of a scheme that sends forms is the JSON of its member payload, or its members", () => {
  const interaction = `payload=${encodeURIComponent('{"type":"block_actions","n":1.50}')}`;
  assert.deepEqual(read(interaction, form, null, true), {
    payload: { json: '{"type":"block_actions","n":1.50}', form: interaction },
    value: { type: "block_actions", n: 1.5 },
  });
  const members = { command: "/weather", text: "94070 %", trigger_id: "13345224609.738474920" };
  const command = new URLSearchParams(members).toString();
  assert.deepEqual(read(command, form, null, true), {
    payload: { json: JSON.stringify(members), form: command },
    value: members,
  });
  assert.deepEqual(read("payload=%7B", form, null, true), { problem: "body_malformed" });
});

test("a body that does not match its type is malformed", () => {
  for (const body of ["", "{", '{"a":1} x', Buffer.from([0x22, 0xff, 0x22])]) {
    assert.deepEqual(read(body, "application/json"), { problem: "body_malformed" });
  }
  assert.deepEqual(read(Buffer.from([0xff]), "text/plain"), { problem: "body_malformed" });
});

test("JSON that parsers read differently is refused", () => {
  assert.deepEqual(read('{"a":{"b":1,"\\u0062":2}}', "application/json"), { problem: "body_member_twice" });
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  assert.deepEqual(read(nested(129), "application/json"), { problem: "body_too_deep" });
  assert.ok("payload" in read(nested(128), "application/json"));
});

test("a type the scheme does not send is refused", () => {
  assert.deepEqual(read("a=1", form, ["application/json"]), { problem: "media_type_not_supported" });
});

test("a text that JSON would grow beyond the log's limit travels as bytes", () => {
  const body = Buffer.alloc(100_000, 1);
  assert.deepEqual(fittingPayload({ text: body.toString() }, body, 600_000), { bytes: body });
  assert.deepEqual(fittingPayload({ text: body.toString() }, body, 900_000), { text: body.toString() });
});

test("a form that does not fit twice travels once, as bytes", () => {
  const form = `text=${"a".repeat(100_000)}`;
  const payload = { json: JSON.stringify({ text: "a".repeat(100_000) }), form };
  assert.deepEqual(fittingPayload(payload, Buffer.from(form), 220_000), { bytes: Buffer.from(form) });
  assert.deepEqual(fittingPayload(payload, Buffer.from(form), 250_000), payload);
});
