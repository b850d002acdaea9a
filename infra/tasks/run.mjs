/**
 * The front of every `npm run` task: `node infra/tasks/run.mjs <script> [arguments]`.
 * Works on a fresh clone with Node 20 and npm: installs and generates what is missing, then runs the script with Node 24.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { SetUpError, setUp } from "./set-up.mjs";

try {
  const node = await setUp();
  const [script = "", ...argv] = process.argv.slice(2);
  process.exitCode = await run(node, [script, ...argv]);
} catch (error) {
  if (!(error instanceof SetUpError)) throw error;
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}

/** Runs Node and gives its exit code. The child decides how to stop; this process only hands on what it is told. */
function run(node, argv) {
  const child = spawn(node, argv, { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      // At a terminal Ctrl-C has already reached the child; a second copy would read as "stop at once".
      if (signal === "SIGINT" && process.stdin.isTTY) return;
      child.kill(signal);
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}
