import { spawn } from "node:child_process";
import { eventually } from "@signalbox/testing";

/** A shell that runs one block of commands after another, as a reader types them. */
export interface Terminal {
  /** The output so far, including background processes. */
  readonly output: string;
  /** Runs commands to their end. @throws Error with the output when one fails, or does not end */
  run(script: string): Promise<void>;
  /** Types commands that do not end, such as a server's start. */
  type(script: string): void;
  /** Ends every process that was started here. */
  close(): Promise<void>;
}

interface TerminalOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Time that a block of commands may take. */
  readonly timeoutMs: number;
}

/** Opens a shell in its own process group. */
export function openTerminal({ cwd, env, timeoutMs }: TerminalOptions): Terminal {
  const shell = spawn("bash", ["--noprofile", "--norc", "-o", "pipefail"], { cwd, env: { ...env }, detached: true });
  const endGroup = () => {
    if (shell.exitCode === null && shell.pid) process.kill(-shell.pid, "SIGTERM");
  };
  process.once("exit", endGroup);
  const exited = new Promise<void>((resolve) => shell.once("close", () => resolve()));
  const marker = `done-${crypto.randomUUID()}`;
  let [output, blocks] = ["", 0];
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  // A shell that has ended takes no more input: its output gives the reason.
  shell.stdin.on("error", () => {});
  shell.stdin.write("trap 'FAILED=$?' ERR\n");

  return {
    get output() {
      return output.replaceAll(new RegExp(`^${marker} .*\n`, "gm"), "");
    },
    async run(script) {
      const end = `${marker} ${++blocks}`;
      shell.stdin.write(`FAILED=0\n${script}\nprintf '\\n%s %s\\n' '${end}' $FAILED\n`);
      const isOver = () => new RegExp(`^${end} (\\d+)$`, "m").exec(output)?.[1] ?? null;
      const shown = () => `${script}\n---\n${output.slice(-4000)}`;
      const code = await eventually(isOver, { timeoutMs }).catch(() => {
        throw new Error(`This does not end:\n${shown()}`);
      });
      if (code !== "0") throw new Error(`This fails with ${code}:\n${shown()}`);
    },
    type: (script) => void shell.stdin.write(`${script}\n`),
    async close() {
      endGroup();
      await exited;
      process.off("exit", endGroup);
    },
  };
}
