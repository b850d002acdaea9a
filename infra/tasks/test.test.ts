import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { root } from "../generate/repository.ts";

/** Runs a part of the tests as `npm test --` does. */
function runTests(...argv: string[]) {
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  return spawnSync(process.execPath, ["infra/tasks/test.ts", ...argv], { cwd: root, encoding: "utf8", env });
}

test("a part of the tests runs without engines and checks, and options reach the runner", () => {
  const one = "a reservation ends by itself";
  const { status, stdout, stderr } = runTests("infra/engines/free-port.test.ts", `--test-name-pattern=${one}`);
  assert.equal(status, 0, stdout + stderr);
  assert.doesNotMatch(stdout, /started on port|runs already|checks passed/);
  assert.match(stdout, /tests 1\b/);
});

test("a part that does not exist is named", () => {
  const { status, stderr } = runTests("infra/nowhere");
  assert.deepEqual([status, stderr.trim()], [1, "No test file matches: infra/nowhere"]);
});
