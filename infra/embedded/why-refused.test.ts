import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { test } from "node:test";
import { ConfigurationError } from "@signalbox/config";
import { DatabaseTooOldError } from "@signalbox/storage";
import { FolderInUseError } from "../engines/postgres/folder-in-use-error.ts";
import { whyRefused } from "./why-refused.ts";

const failure = (code: string, message: string) => Object.assign(new Error(message), { code, syscall: "mkdir" });
const chooseFolder = "npm start -- --embedded.data-directory=<folder>";

test("a taken port is told in one sentence with the option that takes another", () => {
  const message = "port 8080 on 127.0.0.1 is in use; set http.port to a free one";
  const source = "the http listener";
  const taken = { property: "http.port", source, value: "8080", expected: "a free port", message };
  assert.equal(whyRefused(new ConfigurationError([taken])), `${message}: npm start -- --http.port=<value>`);
});

test("a folder that cannot be used is told with the option that takes another", async () => {
  assert.equal(
    whyRefused(failure("EACCES", "EACCES: permission denied, mkdir '/srv/data'")),
    `its folder cannot be used (EACCES: permission denied, mkdir '/srv/data'); choose another one: ${chooseFolder}`,
  );
  const notAFolder = await mkdir(`${import.meta.filename}/data`).catch((error: unknown) => error);
  assert.match(whyRefused(notAFolder) ?? "", /^its folder cannot be used \(ENOTDIR: /);
});

test("data of a version that nothing upgrades is told in one sentence, without a stack", () => {
  assert.equal(
    whyRefused(new DatabaseTooOldError("signalbox_account")),
    `its data was made by a version before 0.2.0; move .signalbox aside, or choose another folder: ${chooseFolder}`,
  );
});

test("a folder that another process uses is told with its process", () => {
  assert.equal(
    whyRefused(new FolderInUseError("/srv/data", 17)),
    `it already runs in this folder, as process 17; stop that one, or choose another folder: ${chooseFolder}`,
  );
});

test("a full disk is told, whoever met it: Node, initdb, the server, or a library around its error", () => {
  const sentence = `the disk of its folder is full; free some space, or choose another folder: ${chooseFolder}`;
  const ofServer = Object.assign(new Error("could not extend file"), { code: "53100" });
  for (const error of [
    failure("ENOSPC", "ENOSPC: no space left on device, mkdir '/srv/data'"),
    new Error("Command failed: initdb\ncould not write file: No space left on device"),
    ofServer,
    new Error("the migration 001 failed", { cause: ofServer }),
  ]) {
    assert.equal(whyRefused(error), sentence);
  }
});

test("a bug is left to the log", () => {
  assert.equal(whyRefused(new TypeError("x is not a function")), null);
  assert.equal(whyRefused("thrown text"), null);
});
