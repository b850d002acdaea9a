import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { oldestUpgradable } from "./older-version.ts";

test("before the first release a drill begins where the version began or a migration last changed, nowhere without history", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-history-"));
  t.after(() => rm(folder, { recursive: true }));
  const git = (...argv: string[]) => execFileSync("git", argv, { cwd: folder, encoding: "utf8", stdio: "pipe" }).trim();
  git("init", "--quiet");
  git("config", "user.name", "Developer");
  git("config", "user.email", "developer@example.com");
  const commit = async (version: string, more = "") => {
    await writeFile(join(folder, "package.json"), `{\n  "version": "${version}"${more}\n}\n`);
    git("add", "package.json");
    git("commit", "--quiet", "--message", `Be ${version}${more}`);
    return git("rev-parse", "--short", "HEAD");
  };
  await commit("0.1.0");
  const began = await commit("0.2.0");
  assert.equal(await oldestUpgradable(folder), null, "nothing came after it");
  await commit("0.2.0", ', "name": "signalbox"');
  await commit("0.2.0", ', "name": "other"');
  assert.equal(await oldestUpgradable(folder), began);
  const migrate = async (text: string) => {
    const path = "libs/http/migrations/010_initial.sql";
    await mkdir(join(folder, "libs/http/migrations"), { recursive: true });
    await writeFile(join(folder, path), text);
    git("add", path);
    git("commit", "--quiet", "--message", "Migrate");
    return git("rev-parse", "--short", "HEAD");
  };
  await migrate("select 1;");
  assert.equal(await oldestUpgradable(folder), began, "a new migration is no change of one");
  const changed = await migrate("select 2;");
  await commit("0.2.0", ', "name": "third"');
  assert.equal(await oldestUpgradable(folder), changed);
  const shallow = join(folder, "shallow");
  git("clone", "--quiet", "--depth=1", `file://${folder}`, shallow);
  assert.equal(await oldestUpgradable(shallow), null);
});
