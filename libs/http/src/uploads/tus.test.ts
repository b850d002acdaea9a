import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { isAppError } from "@signalbox/core";
import { tusOptions, uploadChecksumIn, uploadLengthIn, uploadMetadataIn } from "./tus.ts";

const isRefused = (error: unknown) => isAppError(error) && error.code === "invalid_request";

test("metadata are keys with values in base64, which may be absent", () => {
  const metadata = uploadMetadataIn("filename w4Y6LmpwZw==,is_private , a-b YQ==");
  assert.deepEqual([...metadata], Object.entries({ filename: "Æ:.jpg", is_private: "", "a-b": "a" }));
  assert.equal(uploadMetadataIn("").size, 0);
  for (const wrong of ["a YQ==,a YQ==", "a YQ==,", "a ?", "ä YQ==", "a b c", "a /w=="]) {
    assert.throws(() => uploadMetadataIn(wrong), isRefused, wrong);
  }
});

test("a checksum is of an offered algorithm", () => {
  const sum = createHash("sha1").update("whole").digest("base64");
  for (const [text, matches] of [
    ["whole", true],
    ["other", false],
  ] as const) {
    const checksum = uploadChecksumIn({ "upload-checksum": `sha1 ${sum}` });
    checksum?.update(Buffer.from(text));
    assert.equal(checksum?.matches(), matches);
  }
  assert.equal(uploadChecksumIn({}), null);
  for (const wrong of ["md5 AAAA", "sha1", `sha1:${sum}`]) {
    assert.throws(() => uploadChecksumIn({ "upload-checksum": wrong }), isRefused, wrong);
  }
});

test("a length is a number of bytes", () => {
  assert.equal(uploadLengthIn({ "upload-length": "12" }), 12);
  for (const wrong of ["", "-1", "1e3", "1".repeat(16)]) {
    assert.throws(() => uploadLengthIn({ "upload-length": wrong }), isRefused, wrong);
  }
});

test("nothing is advertised where tus is not offered", () => {
  assert.deepEqual(tusOptions({ maxBytes: () => null }), {});
  assert.equal(tusOptions({ maxBytes: () => 5 })["Tus-Max-Size"], "5");
});
