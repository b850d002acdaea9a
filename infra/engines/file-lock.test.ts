import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startProcess } from "@signalbox/testing";
import { joinUsers, withFileLock } from "./file-lock.ts";

const folder = await mkdtemp(join(tmpdir(), "signalbox-lock-"));
after(() => rm(folder, { recursive: true }));

test("one holder at a time", async () => {
  let inside = 0;
  const enter = () =>
    withFileLock(join(folder, "one"), 5_000, async () => {
      assert.equal(++inside, 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside--;
    });
  await Promise.all([enter(), enter(), enter()]);
});

test("a lock whose holder is killed is free at once", async () => {
  const file = join(folder, "killed");
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
  const file = join(folder, "users");
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
