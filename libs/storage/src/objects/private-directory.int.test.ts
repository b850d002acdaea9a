import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { openPrivateDirectory } from "./private-directory.ts";

it("removes only what killed processes of this machine left", async () => {
  const parent = await mkdtemp(join(tmpdir(), "signalbox-own-folder-"));
  const { pid: dead } = spawnSync(process.execPath, ["--version"]);
  const host = encodeURIComponent(hostname());
  const left = `uploads-${host}-${dead}-a`;
  const [alive, elsewhere, old, other] = [
    `uploads-${host}-${process.ppid}-b`,
    "uploads-elsewhere-1-c",
    "uploads-elsewhere-1-d",
    "others-1",
  ];
  for (const name of [left, alive, elsewhere, old, other]) await mkdir(join(parent, name));
  await utimes(join(parent, old), new Date(), new Date(Date.now() - 25 * 3_600_000));
  const closes: (() => unknown)[] = [];
  const folder = await openPrivateDirectory(parent, "uploads", { defer: (_name, close) => void closes.push(close) });
  const names = (await readdir(parent)).map((name) => join(parent, name));
  const kept = [alive, elsewhere, other].map((name) => join(parent, name));
  assert.deepEqual(names.sort(), [...kept, folder].sort());
  for (const close of closes) await close();
  assert.ok(!(await readdir(parent)).includes(folder));
  await rm(parent, { recursive: true });
});
