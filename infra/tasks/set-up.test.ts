import assert from "node:assert/strict";
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
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

async function startScript() {
  const argv = [join(root, "infra/tasks/run.mjs"), script];
  const task = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(task, "exit");
  const [output] = await Promise.race([once(task.stdout, "data"), ended]);
  return { task, ended, scriptPid: Number(output) };
}

test("a stop signal that arrives several times at once reaches the script once, whose exit code the task ends with", async () => {
  const { task, ended } = await startScript();
  for (const _ of [1, 2, 3]) task.kill("SIGTERM");
  assert.deepEqual(await ended, [1, null]);
});

test("a script does not outlive its task, also when that is killed", async () => {
  const { task, ended, scriptPid } = await startScript();
  task.kill("SIGKILL");
  await ended;
  await eventually(async () => (await processIdentity(scriptPid)) === null);
});

/** A clone of the front of the tasks alone, with one package to install. */
async function cloneTasks(name: string): Promise<string> {
  const clone = join(folder, name);
  await mkdir(join(clone, "infra/tasks"), { recursive: true });
  for (const file of ["run", "end-with-parent", "set-up", "set-up-error", "progress", "tasks", "lock"]) {
    await copyFile(join(root, `infra/tasks/${file}.mjs`), join(clone, `infra/tasks/${file}.mjs`));
  }
  const manifest = { name: "clone", type: "module", dependencies: { "left-pad": "1.3.0" } };
  await writeFile(join(clone, "package.json"), JSON.stringify(manifest));
  return clone;
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
  /** The longest time in which nothing was written. */
  readonly silentMs: number;
}

async function runTask(
  clone: string,
  options: SpawnOptions = {},
  argv = ["nothing.mjs"],
  node = process.execPath,
): Promise<Ended> {
  const own = { npm_lifecycle_event: undefined, npm_config_cache: join(folder, "npm-cache") };
  const task = spawn(node, [join(clone, "infra/tasks/run.mjs"), ...argv], {
    ...options,
    env: { ...process.env, ...own, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let silentMs = 0;
  let lastMs = performance.now();
  const listen = (text: string) => {
    output += text;
    silentMs = Math.max(silentMs, performance.now() - lastMs);
    lastMs = performance.now();
  };
  task.stderr.setEncoding("utf8").on("data", listen);
  task.stdout.setEncoding("utf8").on("data", listen);
  const [code] = await once(task, "close");
  return { code, output, silentMs };
}

/** A folder whose `npm` does what a test wants to see. */
async function fakeNpm(name: string, code: string): Promise<{ PATH: string }> {
  const programs = join(folder, name);
  await mkdir(programs);
  await writeFile(join(programs, "npm"), `#!/bin/sh\n${code}\n`, { mode: 0o755 });
  return { PATH: `${programs}:${process.env.PATH}` };
}

test("without a network the installation fails with one sentence, long before npm would give up", {
  timeout: 60_000,
}, async () => {
  const env = { npm_config_registry: "http://127.0.0.1:1/" }; // nothing listens there
  const { code, output } = await runTask(await cloneTasks("offline"), { env });
  assert.equal(code, 1, output);
  assert.match(
    output,
    /^(Installing packages.*\n)+\nPackages cannot be fetched: http:\/\/127\.0\.0\.1:1 does not answer \(ECONNREFUSED\)\. Check the network, or name a mirror: npm config set registry <url>\n$/,
  );
});

test("a full disk is told in one sentence", async () => {
  const clone = await cloneTasks("full");
  const env = await fakeNpm("full-npm", 'echo "npm error code ENOSPC" >&2; exit 1');
  const { code, output } = await runTask(clone, { env });
  assert.equal(code, 1, output);
  assert.match(
    output,
    /^(Installing packages.*\n)+\nThe disk of \S+ is full\. Free about 1 GB and run the command again\.\n$/,
  );
});

test("a folder without write permission is told in one sentence", async () => {
  const clone = await cloneTasks("closed");
  await chmod(folder, 0o755);
  await chmod(clone, 0o555);
  // Root may write everywhere, so the task runs as somebody else, who may not reach the node of this clone.
  const other = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const node = join(folder, "node");
  await copyFile(process.execPath, node);
  const { code, output } = await runTask(clone, { ...other, cwd: folder }, ["nothing.mjs"], node);
  await chmod(clone, 0o755);
  assert.equal(code, 1, output);
  assert.match(
    output,
    /^\nThis user may not write to \S+ \(EACCES\)\. Change the owner of the folder, or clone into one of your own\.\n$/,
  );
});

test("what npm says is shown where nobody foresaw it", async () => {
  const env = await fakeNpm("odd-npm", 'echo "npm error something odd" >&2; exit 7');
  const { code, output } = await runTask(await cloneTasks("odd"), { env });
  assert.equal(code, 1);
  assert.match(output, /npm error something odd\n\nThe set-up failed: npm install ended with 7\.\n$/);
});

test("the screen reports progress at least every 3 s while npm works", async () => {
  const clone = await cloneTasks("slow");
  const lock = { packages: { "node_modules/one": {}, "node_modules/two": {}, "node_modules/dev": { dev: true } } };
  await writeFile(join(clone, "package-lock.json"), JSON.stringify(lock));
  const env = await fakeNpm(
    "slow-npm",
    "mkdir -p node_modules/one; echo {} > node_modules/one/package.json; sleep 4; exit 1",
  );
  const { output, silentMs } = await runTask(clone, { env });
  assert.match(output, /^Installing packages …\nInstalling packages: 1 of 2, [23] s\n/);
  assert.ok(silentMs < 3_000, `${silentMs} ms`);
});

test("--help explains a task, with an example, before anything is installed", async () => {
  const clone = await cloneTasks("help");
  const scripts = { start: "exec node infra/tasks/run.mjs infra/embedded/start.ts" };
  await writeFile(join(clone, "package.json"), JSON.stringify({ type: "module", scripts }));
  const { code, output } = await runTask(clone, {}, ["infra/embedded/start.ts", "--help"]);
  assert.equal(code, 0);
  assert.match(output, /^Usage: npm start .*\n\n\S.*\n[\s\S]*Options:\n {2}--\S[\s\S]*Example:\n {2}npm start -- /);
  assert.equal((await runTask(clone, {}, ["help"])).code, 0);
  assert.equal((await runTask(clone, {}, ["help", "nothing"])).code, 1);
  assert.deepEqual(await readdir(clone), ["infra", "package.json"], "nothing was installed");
});

test("files are generated only when one is missing", async () => {
  const clone = await cloneTasks("generating");
  const env = await fakeNpm("willing-npm", "exit 0");
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
    const { code, output } = await runTask(clone, { cwd: clone, env });
    assert.equal(code, 0, output);
    return (await readFile(join(clone, "times"), "utf8")).length;
  };
  assert.deepEqual([await timesGenerated(), await timesGenerated()], [1, 1]);
  await rm(join(clone, "made.json"));
  assert.equal(await timesGenerated(), 2);
  assert.equal(await readFile(join(clone, "made.json"), "utf8"), "{}");
});
