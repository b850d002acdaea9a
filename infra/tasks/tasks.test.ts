import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile, utimes } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { serviceNames } from "@signalbox/core";
import { eventually } from "@signalbox/testing";
import { root } from "../generate/repository.ts";

interface Task {
  readonly name: string;
  readonly example: string;
}

const path = join(root, "infra/tasks/tasks.mjs");
const {
  tasks,
  taskHelp,
  taskList,
}: {
  tasks: readonly Task[];
  taskHelp: (task: Task) => string;
  taskList: () => string;
} = await import(path);
const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));

test("the tasks are exactly the scripts of package.json", () => {
  assert.deepEqual(tasks.map(({ name }) => name).sort(), Object.keys(scripts).sort());
});

test("the list and the help of each task fit a screen of 80 columns", () => {
  for (const text of [taskList(), ...tasks.map(taskHelp)]) {
    for (const line of text.split("\n")) assert.ok(line.length <= 80, line);
  }
});

test("the list has every task", () => {
  for (const { name } of tasks) assert.match(taskList(), new RegExp(`^ {2}npm (run )?${name} `, "m"));
});

test("every task has an example that runs it", () => {
  for (const task of tasks) assert.match(task.example, new RegExp(`^npm (run )?${task.name}( -- |$)`));
});

const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
/** Runs a part of the tests as `npm test --` does. */
function runTests(...argv: string[]) {
  return spawnSync(process.execPath, ["infra/tasks/test.ts", ...argv], { cwd: root, encoding: "utf8", env });
}

test("options reach the runner of a test part, which starts no engines or checks", () => {
  const one = "a reservation ends by itself";
  const { status, stdout, stderr } = runTests("infra/engines/processes.test.ts", `--test-name-pattern=${one}`);
  assert.equal(status, 0, stdout + stderr);
  assert.doesNotMatch(stdout, /started on port|runs already|checks passed/);
  assert.match(stdout, /^1 passed, 0 failed$/m);
});

test("a watched part runs again when a file of it changes, until somebody stops it", async (t) => {
  const part = "infra/engines/processes.test.ts";
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

/** Runs the task like a person: with the Node that npm runs on, not with the one of the packages. */
function runTask(...argv: string[]) {
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  return spawnSync("npm", ["run", "--silent", "service", "--", ...argv], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, PATH: path.join(delimiter), NODE_TEST_CONTEXT: undefined },
    shell: process.platform === "win32",
  });
}

test("a service is started by its name with the properties of the command line", () => {
  const { status, stderr } = runTask("images", "--http.port=eighty");
  assert.match(stderr, /http\.port \(from --http\.port\)/);
  assert.equal(status, 1);
});

test("an unknown service is refused with the existing names", () => {
  const { status, stderr } = runTask("imags");
  assert.match(stderr, new RegExp(`"imags" is not a service\\. Name one of ${serviceNames.join(", ")}`));
  assert.equal(status, 1);
});
