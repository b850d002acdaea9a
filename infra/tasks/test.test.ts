import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "@signalbox/testing";
import { root } from "../generate/repository.ts";

const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
/** Runs a part of the tests as `npm test --` does. */
function runTests(...argv: string[]) {
  return spawnSync(process.execPath, ["infra/tasks/test.ts", ...argv], { cwd: root, encoding: "utf8", env });
}

test("a part of the tests runs without engines and checks, and options reach the runner", () => {
  const one = "a reservation ends by itself";
  const { status, stdout, stderr } = runTests("infra/engines/free-port.test.ts", `--test-name-pattern=${one}`);
  assert.equal(status, 0, stdout + stderr);
  assert.doesNotMatch(stdout, /started on port|runs already|checks passed/);
  assert.match(stdout, /^1 passed, 0 failed$/m);
});

test("a watched part runs again when a file of it changes, until somebody stops it", async (t) => {
  const part = "infra/engines/free-port.test.ts";
  const title = "a reservation ends by itself";
  const child = spawn(process.execPath, ["infra/tasks/test.ts", part, "--watch", `--test-name-pattern=${title}`], {
    cwd: root,
    env,
  });
  t.after(() => child.kill());
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text) => {
      printed += text;
    });
  const hasRun = (times: number) => () => printed.split(title).length > times;
  await eventually(hasRun(1), { message: "it runs", timeoutMs: 240_000 });
  // A change that is made before the runner watches is seen by nobody, so another follows: later each time, because a
  // change ends the run of the one before.
  for (let waitMs = 2_000; !hasRun(2)(); waitMs *= 2) {
    assert.ok(waitMs < 240_000, "it runs again");
    await utimes(join(root, part), new Date(), new Date());
    await eventually(hasRun(2), { timeoutMs: waitMs }).catch(() => {});
  }
  child.kill("SIGTERM");
  await once(child, "exit");
});

test("a part that does not exist is named", () => {
  const { status, stderr } = runTests("infra/nowhere");
  assert.deepEqual([status, stderr.trim()], [1, "No test file matches: infra/nowhere"]);
});
