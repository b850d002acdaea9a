import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { TestContext } from "node:test";
import { commands } from "../src/command/commands.ts";
import { runCommand } from "../src/command/run-command.ts";

interface Call {
  readonly environment?: Readonly<Record<string, string>>;
  /** Standard input. */
  readonly stdin?: string;
  readonly isTerminal?: boolean;
  readonly nowMs?: () => number;
  readonly stop?: AbortSignal;
}

/** A home folder for calls of the command in this process. */
export async function createHome(t: TestContext) {
  const home = await mkdtemp(join(tmpdir(), "signalbox-command-"));
  t.after(() => rm(home, { recursive: true }));
  return {
    home,
    profilePath: join(home, "signalbox", "profiles.json"),

    /** Runs one call; returns what it printed, and its exit code. */
    async call(words: readonly string[], { environment = {}, stdin = "", isTerminal = false, ...rest }: Call = {}) {
      const { stream: stdout, text: printed } = sink(isTerminal);
      const { stream: stderr, text: noted } = sink(isTerminal);
      const input = Object.assign(new PassThrough(), { isTTY: isTerminal });
      input.end(stdin);
      const exitCode = await runCommand(commands, words, {
        stdin: input as unknown as NodeJS.ReadStream,
        stdout,
        stderr,
        environment: { XDG_CONFIG_HOME: home, ...environment },
        nowMs: rest.nowMs ?? (() => Date.now()),
        stopping: () => rest.stop ?? new AbortController().signal,
        version: () => "1.2.3",
      });
      return { exitCode, stdout: printed(), stderr: noted() };
    },
  };
}

function sink(isTerminal: boolean) {
  const stream = new PassThrough({ encoding: "utf8" });
  let text = "";
  stream.on("data", (chunk: string) => {
    text += chunk;
  });
  return {
    stream: Object.assign(stream, { isTTY: isTerminal, columns: 80 }) as unknown as NodeJS.WriteStream,
    text: () => text,
  };
}

/** A JSON answer of a receiver. */
export const json = (body: unknown, status = 200) => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
