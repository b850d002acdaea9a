import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createProfiles, type Profile, profilePath, withProfile } from "./profiles.ts";

const profile: Profile = { url: "http://h", credential: { kind: "api-key", apiKey: "k" } };

async function setUp(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-profiles-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "signalbox", "profiles.json");
  const profiles = createProfiles(path);
  const add = (name: string) => profiles.change(async (file) => [withProfile(file, name, profile), null]);
  return { path, profiles, add };
}

test("the profile file is readable by its owner alone, or refused", async (t) => {
  const { path, profiles, add } = await setUp(t);
  await add("a");
  assert.deepEqual([(await stat(path)).mode & 0o777, (await stat(join(path, ".."))).mode & 0o777], [0o600, 0o700]);
  await chmod(path, 0o640);
  await assert.rejects(profiles.read(), /Other users may read .*chmod 600/);
  await chmod(path, 0o600);
  await writeFile(path, "{");
  await assert.rejects(profiles.read(), /is damaged.*signalbox login/);
});

test("concurrent changes are all kept, without leftovers", async (t) => {
  const { path, profiles, add } = await setUp(t);
  const names = Array.from({ length: 8 }, (_, index) => `p${index}`);
  await Promise.all(names.map(add));
  assert.deepEqual(Object.keys((await profiles.read()).profiles).sort(), names);
  assert.deepEqual(await readdir(join(path, "..")), ["profiles.json"]);
  await assert.rejects(
    profiles.change(() => Promise.reject(new Error("cut"))),
    /cut/,
  );
  await add("after");
  assert.ok((await readFile(path, "utf8")).includes("after"));
});

test("the lock of a killed command is taken over", async (t) => {
  const { path, add } = await setUp(t);
  await add("a");
  await writeFile(`${path}.lock`, "");
  const longAgo = new Date("2026-01-01T00:00:00Z");
  await utimes(`${path}.lock`, longAgo, longAgo);
  await add("b");
  assert.deepEqual(await readdir(join(path, "..")), ["profiles.json"]);
});

test("the profiles are where XDG says", () => {
  assert.equal(profilePath({ XDG_CONFIG_HOME: "/x" }), "/x/signalbox/profiles.json");
  assert.match(profilePath({ XDG_CONFIG_HOME: "relative" }), /\/\.config\/signalbox\/profiles\.json$/);
});
