import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { createProgress } from "./progress.ts";

test("a step that takes long says so again before 3 s are over, until the next one", () => {
  mock.timers.enable({ apis: ["setInterval"] });
  const lines: string[] = [];
  const progress = createProgress((line) => lines.push(line));
  progress.tell("the database");
  mock.timers.tick(3_000);
  assert.equal(lines.length, 2);
  assert.match(lines[1] ?? "", /^Starting the database, \d+ s so far$/);
  progress.tell("the event log");
  progress.stop();
  mock.timers.tick(10_000);
  assert.deepEqual(lines.slice(2), ["Starting the event log"]);
  mock.timers.reset();
});
