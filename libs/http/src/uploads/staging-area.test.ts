import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, test } from "node:test";
import { AppError } from "@signalbox/core";
import { testContext } from "@signalbox/testing";
import { openStagingArea } from "./staging-area.ts";

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());

async function openIn(directory: string) {
  const runner = {
    defer: (_name: string, close: () => unknown) => void opened.defer(async () => void (await close())),
  };
  const { log } = testContext("images", {});
  const tooLarge = () => new AppError("payload_too_large", "");
  return await openStagingArea({ directory, bytesMax: () => 1_000, tooLarge, headBytes: 10, runner, log });
}

test("leftovers of a killed process are removed, files of a living one or another host stay", async () => {
  const directory = await mkdtemp(join(tmpdir(), "staging-"));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const { pid: dead } = spawnSync(process.execPath, ["-e", ""]);
  const host = encodeURIComponent(hostname());
  const left = async (owner: string) => {
    const name = `signalbox-uploads-${owner}-abcdef`;
    await mkdir(join(directory, name));
    await writeFile(join(directory, name, "half"), "half a file");
    return name;
  };
  await left(`${host}-${dead}`);
  await left(`${host}-${process.pid}`);
  const living = await left(`${host}-${process.ppid}`);
  const elsewhere = await left(`elsewhere-${dead}`);

  const area = await openIn(directory);
  const file = await area.stage(Readable.from(["whole"]));
  const [own] = (await readdir(directory)).filter((name) => name !== living && name !== elsewhere);
  assert.deepEqual((await readdir(directory)).sort(), [living, elsewhere, own].sort());
  assert.ok(file.path.startsWith(join(directory, own as string)));
  await openIn(directory);
  assert.equal(await readFile(file.path, "utf8"), "whole", "one more in this process leaves the first alone");
});
