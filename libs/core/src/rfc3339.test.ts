import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseRfc3339, timeExample } from "./rfc3339.ts";

const parsed = (text: string) => parseRfc3339(text)?.toISOString() ?? null;

for (const [writer, text, expected] of [
  ["our own sentences", timeExample, "2026-01-31T12:00:00.000Z"],
  ["Go", "2026-01-31T14:00:00.123456789+02:00", "2026-01-31T12:00:00.123Z"],
  ["Python's isoformat", "2026-01-31T12:00:00.123456+00:00", "2026-01-31T12:00:00.123Z"],
  ["Python's str", "2026-01-31 12:00:00.999999+00:00", "2026-01-31T12:00:00.999Z"],
  ["Java's Instant", "2026-01-31T12:00:00.000000001Z", "2026-01-31T12:00:00.000Z"],
  [".NET", "2026-01-31T12:00:00.1234567Z", "2026-01-31T12:00:00.123Z"],
  ["JavaScript", "2026-01-31T12:00:00.120Z", "2026-01-31T12:00:00.120Z"],
  ["one digit of a fraction", "2026-01-31T12:00:00.5Z", "2026-01-31T12:00:00.500Z"],
  ["lower case", "2026-01-31t12:00:00z", "2026-01-31T12:00:00.000Z"],
  ["an unknown local zone", "2026-01-31T12:00:00-00:00", "2026-01-31T12:00:00.000Z"],
  ["a zone of half an hour", "2026-01-31T00:10:00+05:30", "2026-01-30T18:40:00.000Z"],
  ["a leap day", "2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
  ["a leap second", "1990-12-31T23:59:60Z", "1991-01-01T00:00:00.000Z"],
  ["a leap second in a zone", "1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00.000Z"],
  ["the first century", "0099-01-01T00:00:00Z", "0099-01-01T00:00:00.000Z"],
] as const) {
  test(`a time is read as it is written by ${writer}`, () => assert.equal(parsed(text), expected));
}

test("a time that the calendar does not have is refused", () => {
  for (const text of [
    "2026-02-30T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T12:60:00Z",
    "2026-01-31T12:00:61Z",
    "2026-01-31T12:00:60Z",
    "2026-01-30T23:59:60Z",
    "2026-01-31T12:00:00+24:00",
    "2026-01-31T12:00:00+01:60",
    "0000-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
  ]) {
    assert.equal(parsed(text), null, text);
  }
});

test("a text of another form is refused", () => {
  for (const text of [
    "",
    "yesterday",
    "1769860800",
    "2026-01-31",
    "2026-01-31T12:00Z",
    "2026-01-31T12:00:00",
    "2026-01-31T12:00:00.Z",
    "2026-01-31T12:00:00,5Z",
    "2026-01-31T12:00:00+0100",
    "2026-01-31T12:00:00+01",
    "2026-01-31T12:00:00 Z",
    "+002026-01-31T12:00:00Z",
    "2026-01-31T12:00:00Z\n",
    "٢٠٢٦-01-31T12:00:00Z",
  ]) {
    assert.equal(parsed(text), null, JSON.stringify(text));
  }
});

test("every time that the service writes is read as the same time", () => {
  const times = fc.date({
    min: new Date("0000-01-01T00:00:00.000Z"),
    max: new Date("9999-12-31T23:59:59.999Z"),
    noInvalidDate: true,
  });
  fc.assert(fc.property(times, (time) => assert.equal(parsed(time.toISOString()), time.toISOString())));
});
