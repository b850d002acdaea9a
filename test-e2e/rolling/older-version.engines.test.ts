import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gitIn } from "@signalbox/infra/release/release.ts";
import { firstOfVersion } from "./older-version.ts";

test("before the first release a drill begins at the commit that began the version, and nowhere without history", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-history-"));
  t.after(() => rm(folder, { recursive: true }));
  const git = gitIn(folder);
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
  assert.equal(await firstOfVersion(folder), null, "nothing came after it");
  await commit("0.2.0", ', "name": "signalbox"');
  await commit("0.2.0", ', "name": "other"');
  assert.equal(await firstOfVersion(folder), began);
  const shallow = join(folder, "shallow");
  git("clone", "--quiet", "--depth=1", `file://${folder}`, shallow);
  assert.equal(await firstOfVersion(shallow), null);
});
