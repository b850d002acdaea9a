import { spawn } from "node:child_process";
import { eventually } from "@signalbox/testing";

/** A shell in which one block of commands runs after the other, as a reader types them. */
export interface Terminal {
  /** Everything printed so far, also by what runs in the background. */
  readonly output: string;
  /** Runs commands to their end. @throws Error with the output when one fails, or does not end */
  run(script: string): Promise<void>;
  /** Types commands that do not end, such as a server's start. */
  type(script: string): void;
  /** Ends everything that was started here. */
  close(): Promise<void>;
}

interface TerminalOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long a block of commands may take. */
  readonly timeoutMs: number;
}

/** Opens a shell in a process group of its own. */
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
  // A shell that has ended takes no more: its output says why.
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
