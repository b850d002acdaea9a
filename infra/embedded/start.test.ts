import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, mock, test } from "node:test";
import { ConfigurationError, createErrorResponses } from "@signalbox/runtime";
import { DatabaseTooOldError } from "@signalbox/storage";
import { FolderInUseError } from "../engines/postgres/start-postgres.ts";
import { keptSealingKey } from "./kept-keys.ts";
import { createProgress, whileStarting } from "./starting-page.ts";
import { whyRefused } from "./why-refused.ts";

test("a step that takes long says so again before 3 s are over, until the next one", () => {
  mock.timers.enable({ apis: ["setInterval"] });
  const lines: string[] = [];
  const progress = createProgress((line) => lines.push(line));
  progress.tell("the database");
  mock.timers.tick(3_000);
  assert.equal(lines.length, 2);
  assert.match(lines[1] ?? "", /^Starting the database, \d+ s so far$/);
  progress.tell("the event log");
  progress.stop();
  mock.timers.tick(10_000);
  assert.deepEqual(lines.slice(2), ["Starting the event log"]);
  mock.timers.reset();
});

test("until everything runs, callers are told to come back, in the shape of every refusal", async () => {
  const front = whileStarting((_, response) => response.end("served"), createErrorResponses("/docs/errors"));
  const server = createServer(front.listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/images`;
  try {
    const early = await fetch(url, { headers: { "x-request-id": "caller-1" } });
    assert.equal(early.status, 503);
    assert.equal(early.headers.get("retry-after"), "1");
    assert.equal(early.headers.get("x-request-id"), "caller-1");
    assert.equal(early.headers.get("x-content-type-options"), "nosniff");
    const { error } = (await early.json()) as { error: Record<string, unknown> };
    assert.deepEqual(error, {
      code: "unavailable",
      message: "Signalbox is starting.",
      request_id: "caller-1",
      doc_url: "/docs/errors#unavailable",
    });
    front.open();
    assert.equal(await (await fetch(url)).text(), "served");
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

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

const folder = await mkdtemp(join(tmpdir(), "signalbox-data-"));
after(() => rm(folder, { recursive: true }));
const file = join(folder, "keys");

test("a sealing key cut off at any byte is made anew while nothing can be sealed with it", async () => {
  const whole = await keptSealingKey(folder, async () => false);
  assert.equal(await readFile(file, "utf8"), `${whole}\n`);
  for (let length = 0; length < whole.length; length++) {
    await writeFile(file, whole.slice(0, length));
    const made = await keptSealingKey(folder, async () => false);
    assert.notEqual(made, whole);
    assert.equal(await keptSealingKey(folder, async () => true), made, "what was made is kept");
  }
});

test("a start refuses to replace a lost sealing key that may be in use", async () => {
  for (const left of ["", "k1:AAAA"]) {
    await writeFile(file, left);
    await assert.rejects(
      keptSealingKey(folder, async () => true),
      (error: Error) => {
        assert.ok(error.message.startsWith(`${file} is missing or cut off`), error.message);
        assert.match(error.message, /put the file back from a copy, or move .* away to start empty$/);
        return true;
      },
    );
    assert.equal(await readFile(file, "utf8"), left);
  }
});
