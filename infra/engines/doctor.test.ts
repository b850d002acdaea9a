import assert from "node:assert/strict";
import { test } from "node:test";
import { compareVersions, describeMissing, examine, missingPackages, tableOf } from "./doctor.ts";
import type { WantedProgram } from "./programs.ts";

const program = (changes: Partial<WantedProgram>): WantedProgram => ({
  names: ["node"],
  usedFor: "tests",
  packages: { debian: "nodejs", fedora: "node", macos: "node" },
  ...changes,
});

test("a program that is there and new enough is fine, the first of its names that is there counts", async () => {
  const [finding] = await examine([program({ names: ["no-such-program", "node"], oldest: "20" })]);
  assert.equal(finding?.state, "ok");
  assert.match(String(finding?.found), /^\d+\.\d+/);
});

test("what is absent or too old is told with one command for each system", async () => {
  const findings = await examine([
    program({ names: ["no-such-program"], packages: { debian: "lost", fedora: "gone", macos: null } }),
    program({ oldest: "999", tooOld: "Take a newer Node." }),
  ]);
  assert.deepEqual(
    findings.map(({ state }) => state),
    ["absent", "too old"],
  );
  const text = await describeMissing(findings);
  assert.match(text, /debian +apt-get install -y --no-install-recommends lost nodejs/);
  assert.match(text, /fedora +dnf install -y gone node/);
  assert.match(text, /macos +brew install node/);
  assert.match(text, /Take a newer Node\./);
  assert.match(tableOf(findings), /node +≥ 999 +\d+\.\d+\.\d+ +TOO OLD +tests/);
});

test("a package that brings several programs is asked for once", async () => {
  const absent = program({ names: ["no-such-program"] });
  assert.deepEqual(
    (await missingPackages(await examine([absent, absent]), "macos")).filter((name) => name === "node"),
    ["node"],
  );
});

test("versions compare by their numbers", () => {
  assert.ok(compareVersions("1.10", "1.9") > 0);
  assert.ok(compareVersions("17", "17.0.15") < 0);
  assert.equal(compareVersions("3.6", "3.6.0"), 0);
});
