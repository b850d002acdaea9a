import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
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
