import assert from "node:assert/strict";
import { test } from "node:test";
import type { SignatureScheme } from "@signalbox/webhook-signatures";
import { fittingPayload, readPayload } from "./read-payload.ts";

const read = (body: string | Buffer, type: string | null, readsForms?: true) =>
  readPayload({ body: Buffer.from(body as string) }, type, { ...(readsForms && { readsForms }) } as SignatureScheme);
const kept = (body: string | Buffer, problem: string, value?: unknown) => ({
  payload: { bytes: Buffer.from(body as string), problem },
  value,
});
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
  assert.deepEqual(read(interaction, form, true), {
    payload: { json: '{"type":"block_actions","n":1.50}', form: interaction },
    value: { type: "block_actions", n: "1.50" },
  });
  const members = { command: "/weather", text: "94070 %", trigger_id: "13345224609.738474920" };
  const command = new URLSearchParams(members).toString();
  assert.deepEqual(read(command, form, true), {
    payload: { json: JSON.stringify(members), form: command },
    value: members,
  });
});

test("a form whose member payload is no JSON is read as its members", () => {
  for (const payload of ["hello", "{", ""]) {
    const text = new URLSearchParams({ payload, n: "1" }).toString();
    assert.deepEqual(read(text, form, true).value, { payload, n: "1" });
  }
});

test("the bytes that a form escapes are of its charset", () => {
  for (const [charset, text] of [
    ["iso-8859-1", "name=Zo%EB+%26%20more&plain=1"],
    ["UTF-8", "name=Zo%C3%AB+%26%20more&plain=1"],
  ] as const)
    assert.deepEqual(read(text, `${form}; charset=${charset}`, true), {
      payload: { json: '{"name":"Zoë & more","plain":"1"}', form: text },
      value: { name: "Zoë & more", plain: "1" },
    });
});

test("a form may escape the half of a character", () => {
  const reading = read("name=%83e%83X%83g", `${form}; charset=shift_jis`, true);
  assert.deepEqual(reading.value, { name: "テスト" });
});

test("JSON in UTF-8 is read so, whatever charset its type names", () => {
  const json = '{"name":"Zoë"}';
  for (const charset of ["us-ascii", "iso-8859-1", "klingon", "utf-16le"])
    assert.deepEqual(read(json, `application/json; charset=${charset}`).payload, { json }, charset);
  const western = Buffer.from(json, "latin1");
  assert.deepEqual(read(western, "application/json; charset=iso-8859-1").payload, { json, bytes: western });
  const wide = Buffer.from(json, "utf16le");
  assert.deepEqual(read(wide, "application/json; charset=utf-16le").payload, { json, bytes: wide });
});

test("every media type of JSON is JSON", () => {
  for (const type of ["application/json", "text/json", "application/vnd.api+json", "model/gltf+json"])
    assert.deepEqual(read("[1]", type).payload, { json: "[1]" }, type);
  for (const type of ["text/plain", "text/jsonx"]) assert.deepEqual(read("[1]", type).payload, { text: "[1]" }, type);
});

test("a body that does not match its type is kept as bytes, with the problem", () => {
  for (const body of ["", "{", '{"a":1} x'])
    assert.deepEqual(read(body, "application/json"), kept(body, "body_malformed"));
  const latin = Buffer.from([0x22, 0xe9, 0x22]);
  for (const type of ["application/json", "text/plain", "text/plain; charset=utf-8"])
    assert.deepEqual(read(latin, type), kept(latin, "charset_mismatch"));
  assert.deepEqual(read(latin, "text/plain; charset=klingon"), kept(latin, "charset_not_supported"));
});

test("JSON that parsers read differently is kept as bytes, and its members are found", () => {
  const twice = '{"id":"d-1","a":{"b":1,"\\u0062":2}}';
  assert.deepEqual(read(twice, "application/json"), kept(twice, "body_member_twice", { id: "d-1", a: { b: 2 } }));
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  assert.equal((read(nested(129), "application/json").payload as { problem: string }).problem, "body_too_deep");
  assert.ok("json" in read(nested(128), "application/json").payload);
});

test("a text is decoded by its charset, its byte order mark or its declaration, beside its own bytes", () => {
  const text = "Zoë, ’tis";
  const western = Buffer.concat([Buffer.from("Zoë, ", "latin1"), Buffer.of(0x92), Buffer.from("tis")]);
  for (const type of ["text/plain; charset=iso-8859-1", 'text/plain; Charset="Windows-1252"'])
    assert.deepEqual(read(western, type).payload, { text, bytes: western }, type);
  const xml = `<?xml version="1.0" encoding="ISO-8859-1"?><name>${"Zoë"}</name>`;
  const xmlBytes = Buffer.from(xml, "latin1");
  assert.deepEqual(read(xmlBytes, "application/xml").payload, { text: xml, bytes: xmlBytes });
  const wide = Buffer.from("\ufeffZoë", "utf16le");
  assert.deepEqual(read(wide, "text/plain").payload, { text: "Zoë", bytes: wide });
  assert.deepEqual(read("plain", "text/plain; charset=iso-8859-1").payload, { text: "plain" });
});

test("a byte order mark is no part of the JSON", () => {
  const marked = Buffer.from('\ufeff{"a":1.50}');
  for (const type of ["application/json", "application/cloudevents+json", null])
    assert.deepEqual(read(marked, type), { payload: { json: '{"a":1.50}', bytes: marked }, value: { a: "1.50" } });
});

test("a number that a double cannot hold is read as it was written", () => {
  const json = '{"id":9007199254740993,"amount":1.10,"large":1e400,"small":7,"at":1700000000.0}';
  const { value } = read(json, "application/json");
  assert.deepEqual(value, { id: "9007199254740993", amount: "1.10", large: "1e400", small: 7, at: 1_700_000_000 });
});

test("a body in a coding that cannot be undone is kept as bytes", () => {
  const body = Buffer.from("{}");
  const scheme = {} as SignatureScheme;
  assert.deepEqual(
    readPayload({ body, problem: "coding" }, "application/json", scheme),
    kept(body, "coding_not_supported"),
  );
  assert.deepEqual(
    readPayload({ body, problem: "malformed" }, "application/json", scheme),
    kept(body, "coding_malformed"),
  );
});

test("a text that JSON would grow beyond the log's limit travels as bytes", () => {
  const body = Buffer.alloc(100_000, 1);
  assert.deepEqual(fittingPayload({ text: body.toString() }, body, 600_000), { bytes: body });
  assert.deepEqual(fittingPayload({ text: body.toString() }, body, 900_000), { text: body.toString() });
});

test("a form that does not fit twice travels once, as bytes", () => {
  const form = `text=${"a".repeat(100_000)}`;
  const payload = { json: JSON.stringify({ text: "a".repeat(100_000) }), form };
  assert.deepEqual(fittingPayload(payload, Buffer.from(form), 380_000), { bytes: Buffer.from(form) });
  assert.deepEqual(fittingPayload(payload, Buffer.from(form), 410_000), payload);
});
