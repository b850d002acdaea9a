import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { root } from "../generate/repository.ts";

const folder = await mkdtemp(join(tmpdir(), "signalbox-set-up-"));
after(() => rm(folder, { recursive: true }));

const lockModule = JSON.stringify(join(root, "infra/tasks/lock.mjs"));

function evaluate(code: string): ChildProcess {
  return spawn(process.execPath, ["--input-type=module", "--eval", code], { stdio: ["ignore", "pipe", "ignore"] });
}

test("of several processes under one lock only one works at a time, also after one died holding it", async () => {
  const lock = join(folder, "lock");
  const log = join(folder, "log");
  const dead = evaluate("");
  await once(dead, "exit");
  await writeFile(lock, String(dead.pid));
  const worker = `
    import { appendFileSync } from "node:fs";
    import { setTimeout as sleep } from "node:timers/promises";
    import { withLock } from ${lockModule};
    await withLock(${JSON.stringify(lock)}, async () => {
      appendFileSync(${JSON.stringify(log)}, "in ");
      await sleep(20);
      appendFileSync(${JSON.stringify(log)}, "out ");
    });`;
  const exits = await Promise.all([1, 2, 3, 4].map(() => once(evaluate(worker), "exit")));
  assert.deepEqual(
    exits.map(([code]) => code),
    [0, 0, 0, 0],
  );
  assert.equal(await readFile(log, "utf8"), "in out ".repeat(4));
});

test("a task ends with the exit code of its script, and a stop signal reaches the script", async () => {
  const script = join(folder, "script.mjs");
  await writeFile(
    script,
    `process.on("SIGTERM", () => { process.exitCode = 7; clearInterval(alive); });
    const alive = setInterval(() => {}, 1000);
    console.log("ready");`,
  );
  const task = spawn(process.execPath, [join(root, "infra/tasks/run.mjs"), script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(task, "exit");
  await Promise.race([once(task.stdout, "data"), ended]);
  task.kill("SIGTERM");
  assert.deepEqual(await ended, [7, null]);
});
