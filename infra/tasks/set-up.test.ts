import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { eventually } from "@signalbox/testing";
import { processIdentity } from "../engines/processes.ts";
import { root } from "../generate/repository.ts";

const folder = await mkdtemp(join(tmpdir(), "signalbox-set-up-"));
after(() => rm(folder, { recursive: true }));

/** Prints its pid when it is ready, counts the stop signals it gets and ends with their number. */
const script = join(folder, "script.mjs");
await writeFile(
  script,
  `let signals = 0;
  const alive = setInterval(() => {}, 1000);
  process.on("SIGTERM", () => {
    signals += 1;
    setTimeout(() => { process.exitCode = signals; clearInterval(alive); }, 400);
  });
  console.log(process.pid);`,
);

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

async function startTask() {
  const argv = [join(root, "infra/tasks/run.mjs"), script];
  const task = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(task, "exit");
  const [output] = await Promise.race([once(task.stdout, "data"), ended]);
  return { task, ended, scriptPid: Number(output) };
}

test("a stop signal that arrives several times at once reaches the script once, whose exit code the task ends with", async () => {
  const { task, ended } = await startTask();
  for (const _ of [1, 2, 3]) task.kill("SIGTERM");
  assert.deepEqual(await ended, [1, null]);
});

test("a script does not outlive its task, also when that is killed", async () => {
  const { task, ended, scriptPid } = await startTask();
  task.kill("SIGKILL");
  await ended;
  await eventually(async () => (await processIdentity(scriptPid)) === null);
});

/** A clone of nothing but its tasks and the packages that it wants. */
async function makeClone(name: string, packages: Readonly<Record<string, string>> = {}): Promise<string> {
  const clone = join(folder, name);
  await mkdir(join(clone, "infra/tasks"), { recursive: true });
  for (const task of ["run.mjs", "set-up.mjs", "lock.mjs", "stamp.mjs", "end-with-parent.mjs"]) {
    await copyFile(join(root, "infra/tasks", task), join(clone, "infra/tasks", task));
  }
  const dependencies = { node: process.versions.node, ...packages };
  await writeFile(join(clone, "package.json"), JSON.stringify({ name, type: "module", dependencies }));
  return clone;
}

test("a generated file that is gone is made again, and nothing is when all are there", async () => {
  const clone = await makeClone("generating");
  // Installed already, so that npm asks no registry.
  await mkdir(join(clone, "node_modules/node/bin"), { recursive: true });
  const manifest = { name: "node", version: process.versions.node };
  await writeFile(join(clone, "node_modules/node/package.json"), JSON.stringify(manifest));
  await symlink(process.execPath, join(clone, "node_modules/node/bin/node"));
  await mkdir(join(clone, "infra/generate"));
  await writeFile(
    join(clone, "infra/generate/run.ts"),
    `import { appendFileSync, writeFileSync } from "node:fs";
    appendFileSync("times", "x");
    writeFileSync("made.json", "{}");
    writeFileSync(process.argv.at(-1), JSON.stringify(["made.json"]));`,
  );
  await writeFile(join(clone, "nothing.mjs"), "");
  const timesGenerated = async () => {
    const task = spawn(process.execPath, ["infra/tasks/run.mjs", "nothing.mjs"], { cwd: clone, stdio: "ignore" });
    assert.deepEqual(await once(task, "exit"), [0, null]);
    return (await readFile(join(clone, "times"), "utf8")).length;
  };
  assert.deepEqual([await timesGenerated(), await timesGenerated()], [1, 1]);
  await rm(join(clone, "made.json"));
  assert.equal(await timesGenerated(), 2);
  assert.equal(await readFile(join(clone, "made.json"), "utf8"), "{}");
});

test("without a network the installation fails with the reason, long before npm would give up", {
  timeout: 40_000,
}, async () => {
  const clone = await makeClone("clone", { "left-pad": "1.3.0" });
  const environment = {
    ...process.env,
    npm_config_registry: "http://127.0.0.1:1/", // nothing listens there
    npm_config_cache: join(folder, "npm-cache"),
    npm_lifecycle_event: undefined,
  };
  const task = spawn(process.execPath, [join(clone, "infra/tasks/run.mjs"), "nothing.mjs"], {
    env: environment,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  task.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  assert.deepEqual(await once(task, "close"), [1, null], output);
  assert.match(output, /ECONNREFUSED/);
  assert.match(output, /npm install failed; the reason is above\. .*without a network.*\n$/);
});
