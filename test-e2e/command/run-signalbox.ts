import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { environment } from "@signalbox/runtime";
import { startProcess } from "@signalbox/testing";

const program = join(repositoryFolder, "libs/client/src/command/signalbox-cli.ts");

interface Person {
  readonly baseUrl: string;
  readonly apiKey?: string;
}

/** A person with a home folder of their own, whose commands run in processes. */
export async function createPerson(t: TestContext, { baseUrl, apiKey }: Person) {
  const home = await mkdtemp(join(tmpdir(), "signalbox-home-"));
  t.after(() => rm(home, { recursive: true }));
  const variables = {
    XDG_CONFIG_HOME: home,
    SIGNALBOX_URL: baseUrl,
    ...(apiKey === undefined ? {} : { SIGNALBOX_API_KEY: apiKey }),
  };
  return {
    home,

    /** Starts a command in a pipe. */
    start: (words: readonly string[]) => startProcess(program, words, variables),

    /** Runs a command in a pipe to its end. */
    async run(words: readonly string[], stdin?: string) {
      if (stdin !== undefined) return runWithInput(words, stdin, variables);
      const process = startProcess(program, words, variables);
      const { code } = await process.exited;
      return { code, stdout: process.stdout, stderr: process.stderr };
    },

    /** Runs a command in a terminal of 24 lines and 100 columns. */
    inTerminal: (words: readonly string[]) => startTerminal(words, variables),
  };
}

type Variables = Readonly<Record<string, string>>;

async function runWithInput(words: readonly string[], stdin: string, variables: Variables) {
  const child = spawn(process.execPath, [program, ...words], { env: { ...environment(), ...variables } });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  child.stdin.end(stdin);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, ...output };
}

/** Python opens the pseudo-terminal: Node has none without a native package. It exits with the code of the command. */
const pseudoTerminal = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

function startTerminal(words: readonly string[], variables: Variables) {
  const sized = ["sh", "-c", 'stty rows 24 cols 100; exec "$@"', "sh", process.execPath, program, ...words];
  const child = spawn("python3", ["-c", pseudoTerminal, ...sized], {
    env: { ...environment(), ...variables, TERM: "xterm" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  return {
    /** Everything that reached the terminal, control sequences included. */
    get output() {
      return output;
    },
    /** The lines that the last frame shows, without styles. */
    get screen() {
      const [frame = ""] = output.split("\u001b[H").slice(-1);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal takes for itself is removed.
      return frame.replace(/\u001b\[[?\d;]*[a-zA-Z]/g, "");
    },
    type: (keys: string) => void child.stdin.write(keys),
    exited,
    kill: () => child.kill("SIGKILL"),
  };
}
