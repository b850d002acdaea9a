import assert from "node:assert/strict";
import { test } from "node:test";
import { readMultipart } from "./multipart-form.ts";

const type = "multipart/form-data; charset=utf-8; boundary=b-1";
const part = (head: string, value: string) => `--b-1\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
const read = (body: string, contentType = type) => readMultipart(contentType, Buffer.from(body));

test("the members of a form of parts are read, its files are not", () => {
  const body = `${part('name="a"', "caf\u00e9 = 1")}${part('name="f"; filename="x.txt"', "file")}${part('name="b"', "")}--b-1--\r\n`;
  assert.deepEqual(read(body), { a: "caf\u00e9 = 1", b: "" });
  assert.deepEqual(read(`preamble\r\n${body}`, 'Multipart/Form-Data; boundary="b-1"'), { a: "caf\u00e9 = 1", b: "" });
});

test("a malformed form of parts has no members", () => {
  const whole = part('name="a"', "1");
  for (const body of [
    "",
    "{}",
    whole,
    `${whole}--b-1`,
    "--b-1--",
    "--b-1\r\nno head\r\n--b-1--",
    `--b-1x${whole}--b-1--`,
  ])
    assert.equal(read(body), null, body);
  for (const other of ["multipart/form-data", "multipart/mixed; boundary=b-1", "application/json", ""])
    assert.equal(read(`${whole}--b-1--`, other), null, other);
});
