import assert from "node:assert/strict";
import { test } from "node:test";
import { partOf } from "./byte-range.ts";

const of = (range: string | undefined, ifRange?: string, size = 100) =>
  partOf({ ...(range !== undefined && { range }), ...(ifRange !== undefined && { "if-range": ifRange }) }, '"a"', size);

test("one range of bytes is cut to the size of the content", () => {
  assert.deepEqual(of("bytes=0-9"), { start: 0, end: 9 });
  assert.deepEqual(of("bytes=90-"), { start: 90, end: 99 });
  assert.deepEqual(of("bytes=90-1000"), { start: 90, end: 99 });
  assert.deepEqual(of("bytes=-10"), { start: 90, end: 99 });
  assert.deepEqual(of("BYTES=-1000"), { start: 0, end: 99 });
});

test("a range beyond the content cannot be satisfied", () => {
  for (const range of ["bytes=100-", "bytes=100-200", "bytes=-0"]) assert.equal(of(range), "unsatisfiable", range);
  assert.equal(of("bytes=0-", undefined, 0), "unsatisfiable");
});

test("the whole content is sent for anything but one range of bytes of this representation", () => {
  const whole = [undefined, "bytes=0-1,5-6", "lines=0-1", "bytes=", "bytes=-", "bytes=5-1", "bytes=a-b", "0-9"];
  for (const range of [...whole, `bytes=0-${"9".repeat(30)}`]) assert.equal(of(range), null, range);
  assert.equal(of("bytes=0-9", '"b"'), null);
  assert.equal(of("bytes=0-9", 'W/"a"'), null, "a weak validator names no bytes");
  assert.deepEqual(of("bytes=0-9", '"a"'), { start: 0, end: 9 });
});
