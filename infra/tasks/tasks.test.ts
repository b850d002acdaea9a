import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
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

test("every script of package.json is a task, and every task a script", () => {
  assert.deepEqual(tasks.map(({ name }) => name).sort(), Object.keys(scripts).sort());
});

test("the list and the help of each task fit a screen of 80 columns, and each has an example that runs it", () => {
  for (const { name } of tasks) assert.match(taskList(), new RegExp(`^ {2}npm (run )?${name} `, "m"));
  for (const text of [taskList(), ...tasks.map(taskHelp)]) {
    for (const line of text.split("\n")) assert.ok(line.length <= 80, line);
  }
  for (const task of tasks) assert.match(task.example, new RegExp(`^npm (run )?${task.name}( -- |$)`));
});
