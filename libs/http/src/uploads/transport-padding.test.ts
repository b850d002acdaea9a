import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { boundaryOf, TransportPadding } from "./transport-padding.ts";

const filtered = async (text: string, size: number): Promise<string> => {
  const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    Buffer.from(text.slice(at * size, (at + 1) * size), "latin1"),
  );
  return (await buffer(Readable.from(chunks).pipe(new TransportPadding("b-1")))).toString("latin1");
};

test("blanks from a boundary to the end of its line are dropped, wherever the chunks end", async () => {
  const body = (blanks: string) =>
    `--b-1${blanks}\r\nhead\r\n\r\none --b-1 \r\n--b-1${blanks}\r\n\r\n\r\n--b-1--${blanks}`;
  const wanted = `\r\n${body("").slice(0, -2)}--`;
  for (let size = 1; size < 60; size++) {
    assert.equal(await filtered(body(""), size), wanted);
    assert.equal((await filtered(body(" \t "), size)).trimEnd(), wanted);
  }
});

test("a longer boundary stays, as do blanks before other characters", async () => {
  const body = "--b-1\r\n\r\n\r\n--b-12  \r\n--b-1  x\r\n--b-1";
  for (let size = 1; size < body.length; size++) assert.equal(await filtered(body, size), `\r\n${body}`);
});

test("a run of blanks without an end is not held back", async () => {
  const body = `--b-1${" ".repeat(5_000)}\r\n`;
  assert.equal(await filtered(body, 700), `\r\n${body}`);
});

test("a boundary is read with or without quotes", () => {
  assert.equal(boundaryOf('multipart/form-data; charset=utf-8; Boundary="a b"'), "a b");
  assert.equal(boundaryOf("multipart/form-data;boundary=----x; a=b"), "----x");
});
