/**
 * The front of every `npm run` task: `node infra/tasks/run.mjs <script> [arguments]`.
 * Works on a fresh clone with Node 20 and npm: installs and generates what is missing, then runs the script with Node 24.
 * `--help` says what the task does before anything is installed.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { compileCache, setUp } from "./set-up.mjs";
import { SetUpError } from "./set-up-error.mjs";
import { taskHelp, taskList, tasks } from "./tasks.mjs";

/** Longer than the copies of one signal are apart, shorter than a person needs for the second Ctrl-C. */
const echoMs = 250;

// Under npm a task ends with npm, `kill -9` included. (The scripts of package.json say `exec`, or the shell that npm puts in
// between would keep npm's signals to itself.)
if (process.env.npm_lifecycle_event) await import(`./end-with-parent.mjs?parent=${process.ppid}`);

const [script, ...given] = process.argv.slice(2);
const task = taskOf(script);

try {
  if (script === "help") help(given[0]);
  else if (task && given.some((word) => word === "--help" || word === "-h")) console.log(taskHelp(task));
  else process.exitCode = await run(await setUp(task ? (task.installs ?? "all") : "run"), process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SetUpError)) throw error;
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}

function help(name) {
  const asked = tasks.find((one) => one.name === name);
  if (name !== undefined && !asked) {
    console.error(`There is no task "${name}".\n`);
    process.exitCode = 1;
  }
  console.log(asked ? taskHelp(asked) : taskList());
}

/** The task that a script belongs to. Where several share one, npm says which was meant. */
function taskOf(path) {
  const { scripts = {} } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const names = Object.keys(scripts).filter((name) => scripts[name].split(" ").includes(path));
  const asked = process.env.npm_lifecycle_event;
  return tasks.find(({ name }) => name === (names.includes(asked) ? asked : names[0]));
}

/**
 * Runs a script and gives its exit code. One request to stop arrives here several times, from the terminal and from npm, which
 * hands on what the whole group has got already; a second signal means "end at once" to a service. So the script gets a
 * process group of its own, and of each request this process hands on one signal.
 */
function run(node, argv) {
  const endWithParent = new URL(`./end-with-parent.mjs?parent=${process.pid}`, import.meta.url);
  // Before the script starts: it may be ready, and told to stop, before this process goes on.
  let child;
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      const isEcho = performance.now() - lastMs < echoMs;
      lastMs = performance.now();
      if (!isEcho) child?.kill(signal);
    });
  }
  child = spawn(node, ["--import", endWithParent.href, ...argv], {
    stdio: "inherit",
    detached: process.platform !== "win32",
    // Every process below loads the same few hundred modules: compiled once, a third of its start is saved.
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}
