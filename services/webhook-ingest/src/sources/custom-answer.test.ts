import assert from "node:assert/strict";
import { test } from "node:test";
import { CustomAnswerBody } from "./custom-answer.ts";

const fieldOf = (content_type: string, body?: string) => {
  const { error } = CustomAnswerBody.safeParse({ status: 200, content_type, ...(body !== undefined && { body }) });
  return error?.issues.map(({ path }) => path.join("."));
};

test("a source answers in types that no browser runs", () => {
  for (const type of [
    ...["text/plain", "text/plain;charset=utf-8", "text/plain; charset=UTF-8", "text/csv", "application/json"],
    ...["application/problem+json", "application/octet-stream", "application/x-www-form-urlencoded"],
  ]) {
    assert.equal(fieldOf(type, "<script>"), undefined, type);
  }
  for (const type of [
    ...["text/html", "TEXT/HTML", "text/html; charset=utf-8", "application/xhtml+xml", "image/svg+xml"],
    ...["text/javascript", "application/javascript", "text/css", "multipart/x-mixed-replace", "application/pdf"],
    ...["text/plain\r\nx-injected: 1", "text/plain, text/html", "text/plain;charset=utf-7", "", "*/*"],
  ]) {
    assert.deepEqual(fieldOf(type), ["content_type"], type);
  }
});

test("plain XML is an answer, and XML that could carry a script is none", () => {
  const inactive = [
    "",
    "<Response/>",
    '<?xml version="1.0" encoding="UTF-8"?><Response><Message>Hi</Message></Response>',
  ];
  for (const body of inactive) assert.equal(fieldOf("text/xml", body), undefined, body);
  for (const body of [
    '<x xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></x>',
    '<?xml-stylesheet href="//a/x.xsl"?><x/>',
    '<!DOCTYPE x [<!ENTITY y SYSTEM "//a">]><x/>',
  ]) {
    assert.deepEqual(fieldOf("application/xml", body), ["content_type"], body);
  }
});
