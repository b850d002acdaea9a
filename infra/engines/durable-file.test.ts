import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startProcess } from "@signalbox/testing";
import { readWhole, writeDurably } from "./durable-file.ts";
import { joinUsers, withFileLock } from "./file-lock.ts";
import { randomFrom } from "./random-from.fixture.ts";

const folder = await mkdtemp(join(tmpdir(), "signalbox-durable-"));
after(() => rm(folder, { recursive: true }));

const isSecret = (text: string) => /^k1:[0-9a-f]{32}$/.test(text);
const secret = `k1:${"0123456789abcdef".repeat(2)}`;

test("a file cut off at any byte reads as absent until it is rewritten", async () => {
  const file = join(folder, "secret");
  for (let length = 0; length < secret.length; length++) {
    await writeFile(file, `${secret}\n`.slice(0, length));
    assert.equal(await readWhole(file, isSecret), null, `${length} bytes`);
  }
  await writeFile(file, Buffer.alloc(secret.length));
  assert.equal(await readWhole(file, isSecret), null, "zeros");
  await writeDurably(file, `${secret}\n`);
  assert.equal(await readWhole(file, isSecret), secret);
  await writeFile(file, secret);
  assert.equal(await readWhole(file, isSecret), secret, "nothing but the end of the line is missing");
});

test("what is written is for this account alone, also after a leftover that was not", async () => {
  const file = join(folder, "private");
  await writeFile(`${file}.unfinished`, "left", { mode: 0o644 });
  await writeDurably(file, "text\n");
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith("private")),
    ["private"],
  );
});

test("a writer killed at any moment leaves the old text or the new one", async (context) => {
  const file = join(folder, "killed");
  const random = randomFrom(20_261_122);
  const isWhole = (text: string) => /^\d+ x*$/.test(text);
  let last = 0;
  for (let round = 1; round <= 20; round++) {
    const writer = startProcess(join(import.meta.dirname, "durable-file.fixture.ts"), [file]);
    await writer.waitForOutput(/writing/);
    await sleep(random() * 30);
    await writer.kill();
    const found = await readWhole(file, isWhole);
    if (found === null) {
      assert.equal(last, 0, `round ${round}: the file was there before`);
      continue;
    }
    const [number = "", letters = ""] = found.split(" ");
    assert.equal(letters.length, Number(number) % 4096, `round ${round}`);
    last = Number(number);
  }
  assert.ok(last > 0, "no round wrote anything");
  context.diagnostic(`the last round wrote ${last} times`);
});

const lockFolder = await mkdtemp(join(tmpdir(), "signalbox-lock-"));
after(() => rm(lockFolder, { recursive: true }));

test("one holder at a time", async () => {
  let inside = 0;
  const enter = () =>
    withFileLock(join(lockFolder, "one"), 5_000, async () => {
      assert.equal(++inside, 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside--;
    });
  await Promise.all([enter(), enter(), enter()]);
});

test("a lock whose holder is killed is free at once", async () => {
  const file = join(lockFolder, "killed");
  const holder = startProcess(join(import.meta.dirname, "file-lock.fixture.ts"), [file]);
  await holder.waitForOutput(/locked/);
  await assert.rejects(
    withFileLock(file, 200, async () => {}),
    /another process holds/,
  );
  await holder.kill();
  await withFileLock(file, 1_000, async () => {});
});

test("only the last of several users ends what they share", async () => {
  const file = join(lockFolder, "users");
  const ended: string[] = [];
  const leaveAs = (name: string) => async () => void ended.push(name);
  const [first, second] = [await joinUsers(file), await joinUsers(file)];
  await first(leaveAs("first"));
  assert.deepEqual(ended, []);
  await second(leaveAs("second"));
  assert.deepEqual(ended, ["second"]);
  const next = await joinUsers(file);
  await next(leaveAs("next"));
  assert.deepEqual(ended, ["second", "next"]);
});
