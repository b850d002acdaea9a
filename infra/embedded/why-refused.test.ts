import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { test } from "node:test";
import { ConfigurationError } from "@signalbox/config";
import { DatabaseTooOldError } from "@signalbox/storage";
import { whyRefused } from "./why-refused.ts";

test("what one option mends is told in one sentence with that option", async () => {
  const expected = "a free port on 127.0.0.1: this one is in use";
  const taken = { property: "http.port", source: "the http listener", value: "8080", expected };
  assert.equal(
    whyRefused(new ConfigurationError([taken])),
    `http.port is 8080: expected ${expected}; choose another with: npm start -- --http.port=<value>`,
  );
  const denied = Object.assign(new Error("EACCES: permission denied, mkdir '/srv/data'"), {
    code: "EACCES",
    syscall: "mkdir",
  });
  assert.equal(
    whyRefused(denied),
    "its folder cannot be used (EACCES: permission denied, mkdir '/srv/data'); " +
      "choose another with: npm start -- --embedded.data-directory=<folder>",
  );
  const notAFolder = await mkdir(`${import.meta.filename}/data`).catch((error: unknown) => error);
  assert.match(whyRefused(notAFolder) ?? "", /^its folder cannot be used \(ENOTDIR: /);
});

test("data of a version that nothing upgrades is told in one sentence, without a stack", () => {
  assert.equal(
    whyRefused(new DatabaseTooOldError("signalbox_account")),
    "its data was made by a version before 0.2.0; move .signalbox aside, or choose another folder with: " +
      "npm start -- --embedded.data-directory=<folder>",
  );
});

test("a bug is left to the log", () => {
  assert.equal(whyRefused(new TypeError("x is not a function")), null);
  assert.equal(whyRefused("thrown text"), null);
});
