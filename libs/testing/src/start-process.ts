import { spawn } from "node:child_process";
import { environment } from "@signalbox/runtime";
import { eventually } from "./eventually.ts";

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface TestProcess {
  readonly pid: number;
  /** Its output so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves when the process has ended and all its output has arrived. */
  readonly exited: Promise<Exit>;
  readonly isRunning: boolean;
  /** Waits until its output matches; fails at once, with the output, when the process ends first. */
  waitForOutput(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray>;
  signal(signal: NodeJS.Signals): void;
  /** Signals its whole process group, as the terminal does on Ctrl-C. Needs `ownGroup`. */
  signalGroup(signal: NodeJS.Signals): void;
  /** `kill -9`, and waits for the end. */
  kill(): Promise<Exit>;
}

/** One listener for all: a crash test runs more processes than an emitter permits listeners. */
const killedAtExit = new Set<() => unknown>();
process.once("exit", () => {
  for (const kill of killedAtExit) kill();
});

/**
 * Runs a script with this Node in a process of its own, for tests of signals and crashes. `env` overrides the
 * environment of the test; `undefined` removes a variable. A process that still runs at the end of the test is killed.
 */
export function startProcess(
  script: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string | undefined>> = {},
  { cwd, ownGroup = false }: { cwd?: string; ownGroup?: boolean } = {},
): TestProcess {
  const child = spawn(process.execPath, [script, ...args], {
    // The runner's own variable would make the child report as a test file.
    env: { ...environment(), NODE_TEST_CONTEXT: undefined, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: ownGroup,
    ...(cwd && { cwd }),
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  let ended = false;
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      ended = true;
      killedAtExit.delete(killNow);
      resolve({ code, signal });
    });
  });
  const killNow = () => child.kill("SIGKILL");
  killedAtExit.add(killNow);

  return {
    pid: child.pid as number,
    get stdout() {
      return output.stdout;
    },
    get stderr() {
      return output.stderr;
    },
    exited,
    get isRunning() {
      return !ended;
    },
    waitForOutput: (pattern, timeoutMs = 60_000) =>
      outputMatch(pattern, timeoutMs, { script, text: () => output.stdout + output.stderr, hasEnded: () => ended }),
    signal: (signal) => {
      child.kill(signal);
    },
    signalGroup: (signal) => {
      if (!ownGroup) throw new Error("without ownGroup the group is the test's own");
      process.kill(-(child.pid as number), signal);
    },
    kill: () => {
      killNow();
      return exited;
    },
  };
}

interface Printing {
  readonly script: string;
  readonly text: () => string;
  readonly hasEnded: () => boolean;
}

async function outputMatch(pattern: RegExp, timeoutMs: number, { script, text, hasEnded }: Printing) {
  const message = `${script} prints ${pattern}`;
  const find = () => pattern.exec(text()) ?? (hasEnded() ? ("ended" as const) : null);
  const found = await eventually(find, { timeoutMs, message }).catch((error: Error) => {
    throw new Error(`${error.message}\n${text()}`);
  });
  if (found === "ended") throw new Error(`expected that ${message}, but it ended:\n${text()}`);
  return found;
}
