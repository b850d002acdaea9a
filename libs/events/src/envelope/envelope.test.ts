import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogue, draft, type EventDraft, eventOf } from "@signalbox/contracts";
import { uuidv7 } from "@signalbox/core";
import { decodeEvent, eventNameOf, UnreadableMessage } from "./decode-event.ts";
import { encodeEvent } from "./encode-event.ts";

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const fields = { service: "images", id: uuidv7(), time: new Date("2026-03-01T10:00:00.000Z"), traceparent };
const created = (title: string | null = "A boat") =>
  draft("image.created", {
    subject: "img_1",
    accountId: "acc_1",
    data: { ...eventOf("image.created").example, title },
  });

test("every catalogue event is decoded as it was encoded", () => {
  for (const { name, example } of catalogue) {
    const event = { name, subject: "subject_1", accountId: "acc_1", data: example } as EventDraft;
    const record = encodeEvent(event, fields);
    assert.equal(eventNameOf(record.headers), name);
    const { data, id, subject, accountId, time } = decodeEvent(name, record);
    assert.deepEqual([id, subject, accountId, time], [fields.id, "subject_1", "acc_1", fields.time]);
    assert.deepEqual(data, example);
  }
});

test("the headers are CloudEvents in binary mode", () => {
  const { headers, key, topic } = encodeEvent(created(), fields);
  assert.deepEqual(headers, {
    ce_specversion: "1.0",
    ce_id: fields.id,
    ce_source: "/signalbox/images",
    ce_type: "image.created.v1",
    ce_time: "2026-03-01T10:00:00.000Z",
    ce_subject: "img_1",
    ce_dataschema: "urn:signalbox:event:image.created.v1",
    ce_accountid: "acc_1",
    ce_traceparent: traceparent,
    "content-type": "application/json",
  });
  assert.deepEqual([topic, key], ["signalbox.image.v1", "img_1"]);
});

test("NUL characters and lone surrogates travel as JSON escapes in well-formed UTF-8", () => {
  const title = "a\u0000b\ud800c";
  const { value, headers } = encodeEvent(created(title), fields);
  assert.ok(!value.includes(0));
  assert.doesNotThrow(() => new TextDecoder("utf-8", { fatal: true }).decode(value));
  assert.equal(decodeEvent("image.created", { headers, value }).data.title, title);
});

const received = (raw: Record<string, string>, extensions?: Record<string, string>) => {
  const { payload: _, ...data } = eventOf("webhook.received").example;
  return draft("webhook.received", {
    subject: "src_1",
    accountId: "acc_1",
    data,
    raw,
    ...(extensions && { extensions }),
  });
};

test("a member that is JSON text already goes out unchanged", () => {
  const payload = '{"id": 12345678901234567890, "rate":1e400}';
  const { value, headers } = encodeEvent(received({ payload }), fields);
  assert.ok(value.toString().endsWith(`,"payload":${payload}}`));
  assert.deepEqual(decodeEvent("webhook.received", { headers, value }).data.payload, JSON.parse(payload));
  assert.throws(() => encodeEvent(received({ unheard: "1" }), fields), /unheard: not declared/);
});

test("extension attributes travel in headers, apart from the data", () => {
  const record = encodeEvent(received({}, { forward: "false" }), fields);
  assert.equal(record.headers.ce_forward, "false");
  assert.deepEqual(decodeEvent("webhook.received", record).extensions, { forward: "false" });
  assert.equal(decodeEvent("webhook.received", encodeEvent(received({}), fields)).extensions, undefined);
});

test("a key that cannot be stored is refused", () => {
  for (const subject of ["", "a\u0000", "\udc00"]) {
    assert.throws(() => encodeEvent({ ...created(), subject }, fields), { name: "AppError", code: "validation_error" });
  }
});

test("data that does not fit its schema is not published", () => {
  const event = created();
  assert.throws(() => encodeEvent({ ...event, data: { ...event.data, id: 7 as never } }, fields), /does not fit/);
  assert.throws(() => encodeEvent({ ...event, data: { ...event.data, colour: "red" } as never }, fields), /colour/);
});

test("an event newer than this reader is ignored", () => {
  assert.equal(eventNameOf({ ce_type: "image.repainted.v1" }), null);
  assert.equal(eventNameOf({ ce_type: "image.created.v2" }), null);
});

test("an id is normalized to one form", () => {
  const { headers, value } = encodeEvent(created(), fields);
  const { id } = decodeEvent("image.created", { headers: { ...headers, ce_id: fields.id.toUpperCase() }, value });
  assert.equal(id, fields.id.toLowerCase());
});

test("an unreadable message names its fault", () => {
  const { headers, value } = encodeEvent(created(), fields);
  const unreadable = (change: Record<string, string>, bytes: Buffer | null, problem: RegExp) =>
    assert.throws(
      () => decodeEvent("image.created", { headers: { ...headers, ...change }, value: bytes }),
      (error: unknown) => error instanceof UnreadableMessage && problem.test(error.message),
    );
  unreadable({ ce_id: "7" }, value, /ce_id/);
  unreadable({ ce_time: "yesterday" }, value, /ce_time/);
  unreadable({ ce_subject: "" }, value, /ce_subject/);
  unreadable({}, null, /no value/);
  unreadable({}, Buffer.from("{"), /not JSON/);
  unreadable({}, Buffer.from([0x22, 0xff, 0x22]), /not JSON in UTF-8/);
  unreadable({}, Buffer.from("{}"), /does not fit/);
  assert.throws(() => eventNameOf({}), UnreadableMessage);
  assert.throws(() => eventNameOf({ ce_type: "rubbish" }), UnreadableMessage);
});
