import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { compareVersions, describeMissing, examine, missingPackages, tableOf, type WantedProgram } from "./doctor.ts";
import { reservePort } from "./free-port.ts";
import { haltProcesses, processState, processTree } from "./processes.ts";

test("a process whose child has ended unnoticed stands still like any other", { timeout: 20_000 }, async (t) => {
  // `sleep` never asks how its child ended, as a halted PostgreSQL does not.
  const parent = spawn("sh", ["-c", "true & exec sleep 60"], { stdio: "ignore" });
  t.after(() => parent.kill("SIGKILL"));
  const pid = parent.pid as number;
  const hasZombie = async () => {
    const [, ...children] = await processTree(pid);
    return (await Promise.all(children.map(processState))).includes("Z");
  };
  while (!(await hasZombie())) await sleep(5);
  await haltProcesses(await processTree(pid));
  assert.equal(await processState(pid), "T");
});

const folder = await mkdtemp(join(tmpdir(), "signalbox-ports-"));
after(() => rm(folder, { recursive: true }));

test("of many who reach for a port one gets it", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => reservePort(20_001, folder)));
  assert.equal(answers.filter((isMine) => isMine).length, 1);
  assert.equal(await reservePort(20_002, folder), true, "another port is another matter");
});

test("a reservation ends by itself", async () => {
  assert.equal(await reservePort(20_003, folder, 60_000), true);
  const [now, before] = [new Date(), new Date(Date.now() - 61_000)];
  await utimes(join(folder, "20003"), now, before);
  assert.equal(await reservePort(20_003, folder, 60_000), true);
  assert.equal(await reservePort(20_003, folder, 60_000), false, "whoever takes it over has it for as long");
});

const program = (changes: Partial<WantedProgram>): WantedProgram => ({
  names: ["node"],
  usedFor: "tests",
  packages: { debian: "nodejs", fedora: "node", macos: "node" },
  ...changes,
});

test("a program is fine if the first of its names found is new enough", async () => {
  const [finding] = await examine([program({ names: ["no-such-program", "node"], oldest: "20" })]);
  assert.equal(finding?.state, "ok");
  assert.equal(finding.command, "node");
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
