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

/** The shells that pages are pasted into. */
export type Shell = "bash" | "zsh";

interface ShellProgram {
  readonly args: readonly string[];
  /** Keeps the code of a command that fails, in `FAILED`. */
  readonly watch: string;
}

const programs: Readonly<Record<Shell, ShellProgram>> = {
  bash: { args: ["--noprofile", "--norc", "-o", "pipefail"], watch: "trap 'FAILED=$?' ERR" },
  // Interactive, as a person's: only then is a comment an argument, and ! a word of the history.
  zsh: {
    args: ["-f", "-i", "-o", "pipe_fail", "-o", "no_check_jobs", "-o", "no_prompt_sp"],
    watch: "PS1= PS2=\nTRAPZERR() { FAILED=$? }",
  },
};

interface TerminalOptions {
  readonly shell: Shell;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Time that a block of commands may take. */
  readonly timeoutMs: number;
}

/** Opens a shell in its own process group. */
export function openTerminal({ shell: name, cwd, env, timeoutMs }: TerminalOptions): Terminal {
  const { args, watch } = programs[name];
  const shell = spawn(name, args, { cwd, env: { ...env }, detached: true });
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
  shell.stdin.write(`${watch}\n`);

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
      // An interactive shell does not end by the signal.
      shell.stdin.end();
      await exited;
      process.off("exit", endGroup);
    },
  };
}
