import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { createManualClock, minutes } from "@signalbox/core";
import { createAdmission, type Place } from "./admission.ts";
import { decodeBody } from "./decode-body.ts";
import { fittingPayload, readPayload } from "./read-payload.ts";
import { createRefusedShares } from "./refused-shares.ts";

const limits = { requestsPerSource: 3, arrivingPerSource: 4, arriving: 6, bytesPerSource: 100, bytes: 150 };

/** Requests by name, and those that gave way, in their order. */
function start() {
  const admission = createAdmission(limits);
  const gone: string[] = [];
  const enter = (sourceId: string, name: string) => admission.enter(sourceId, () => gone.push(name));
  const whole = (sourceId: string, name: string, bytes: number): Place | null => {
    const place = enter(sourceId, name);
    if (place?.moved(bytes) && place.arrived()) return place;
    place?.leave();
    return null;
  };
  return { gone, enter, whole };
}

test("requests and bytes in hand are limited per source, and a place that is left is free again", () => {
  const { enter, whole } = start();
  const places = ["1", "2", "3"].map((name) => whole("a", name, 10));
  assert.ok(places.every((place) => place !== null));
  assert.equal(enter("a", "4"), null, "a fourth request");
  places[0]?.leave();
  places[0]?.leave();
  assert.equal(whole("a", "5", 81), null, "more bytes than it may have");
  assert.notEqual(whole("a", "6", 80), null);
});

test("one source's burst leaves room for another, until the process is full", () => {
  const { whole } = start();
  const own = whole("a", "1", 100);
  assert.equal(whole("b", "2", 51), null);
  assert.notEqual(whole("b", "3", 50), null);
  own?.leave();
  assert.notEqual(whole("c", "4", 100), null);
});

test("a request with an incomplete body blocks no request with a complete one", () => {
  const { gone, enter, whole } = start();
  for (const name of ["slow 1", "slow 2", "slow 3", "slow 4"]) assert.notEqual(enter("a", name), null);
  for (const name of ["1", "2", "3"]) assert.notEqual(whole("a", name, 10), null);
  assert.deepEqual(gone, ["slow 1"], "the first made room for one that came, and those that came are not on their way");
});

test("of many concurrent requests the limit is accepted, and the others are refused when their bodies are complete", () => {
  const { gone, enter } = start();
  const places = ["1", "2", "3", "4"].map((name) => enter("a", name));
  assert.deepEqual(
    places.map((place) => place?.moved(10) && place.arrived()),
    [true, true, true, false],
  );
  assert.deepEqual(gone, []);
});

test("slow bodies give way to free bytes, the one idle for the longest time first", () => {
  const { gone, enter, whole } = start();
  const [first, second] = [enter("a", "first"), enter("a", "second")];
  for (const place of [first, second]) assert.equal(place?.moved(40), true);
  assert.equal(first?.moved(1), true, "the first one moves, the second stands");
  assert.notEqual(whole("a", "new", 50), null);
  assert.deepEqual(gone, ["second"]);
  assert.equal(second?.moved(1), false, "it has lost its place");
  second?.leave();
  assert.notEqual(whole("a", "next", 9), null, "what left twice is subtracted once");
});

test("slow bodies of one source give way to another source, too", () => {
  const { gone, enter, whole } = start();
  assert.equal(enter("a", "slow")?.moved(100), true);
  assert.notEqual(whole("b", "honest", 60), null);
  for (const name of ["1", "2", "3", "4"]) enter("c", name);
  for (const name of ["5", "6", "7"]) enter("d", name);
  assert.deepEqual(gone, ["slow", "1"]);
});

const text = Buffer.from('{"id":"d-1"}');

test("each coding is decoded, and without one the bytes stay", async () => {
  for (const [coding, body] of [
    [undefined, text],
    ["identity", text],
    ["gzip", gzipSync(text)],
    ["GZIP", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["br", brotliCompressSync(text)],
  ] as const) {
    assert.deepEqual(await decodeBody(body, coding, 1_000), { body: text }, coding);
  }
});

test("a body that decodes too large, is damaged or has another coding is refused", async () => {
  const bomb = gzipSync(Buffer.alloc(1_000_000));
  assert.deepEqual(await decodeBody(bomb, "gzip", 1_000), { problem: "size" });
  assert.deepEqual(await decodeBody(bomb.subarray(0, 20), "gzip", 1_000), { problem: "malformed" });
  assert.deepEqual(await decodeBody(text, "br", 1_000), { problem: "malformed" });
  assert.deepEqual(await decodeBody(text, "gzip, br", 1_000), { problem: "coding" });
});

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

function shares() {
  const clock = createManualClock();
  const counted = createRefusedShares(clock);
  const count = (sourceId: string, taken: number, refused: number) => {
    for (let nth = 0; nth < taken; nth++) counted.count(sourceId, false);
    for (let nth = 0; nth < refused; nth++) counted.count(sourceId, true);
  };
  return { clock, count, mostlyRefused: counted.mostlyRefused };
}

test("a source counts when more than half of enough webhooks are refused", () => {
  const { count, mostlyRefused } = shares();
  count("src_half", 15, 15);
  count("src_most", 15, 16);
  count("src_few", 0, 19);
  assert.deepEqual(mostlyRefused(), ["src_most"]);
});

test("webhooks older than ten minutes do not count", () => {
  const { clock, count, mostlyRefused } = shares();
  count("src_a", 0, 20);
  clock.advance(minutes(5));
  assert.deepEqual(mostlyRefused(), ["src_a"]);
  clock.advance(minutes(5));
  assert.deepEqual(mostlyRefused(), []);
});

test("a source with a corrected secret counts no more once most webhooks are accepted", () => {
  const { clock, count, mostlyRefused } = shares();
  count("src_a", 0, 20);
  clock.advance(minutes(5));
  count("src_a", 21, 0);
  assert.deepEqual(mostlyRefused(), []);
});
