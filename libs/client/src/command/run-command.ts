import type { Context } from "./context.ts";
import { type Command, commonOptions, optionsOf, parseWords } from "./declare.ts";
import { exitCodes, UsageError } from "./failures.ts";
import { commandHelp, programHelp } from "./help.ts";
import { createOutput, printableJson, printableLines, type Sink } from "./output.ts";
import { createProfiles, profilePath } from "./profiles.ts";

/** The process around a call. */
export interface Process {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: Sink;
  readonly environment: Context["environment"];
  readonly nowMs: () => number;
  readonly stopping: Context["stopping"];
  readonly version: () => string;
}

/** Runs one call of the command; returns its exit code. Nothing but a bug is thrown. */
export async function runCommand(
  commands: readonly Command[],
  given: readonly string[],
  own: Process,
): Promise<number> {
  const words = withOptionsBehind(given);
  const isJson = words.includes("--json");
  try {
    if (words.length === 0) {
      own.stderr.write(programHelp(commands));
      return exitCodes.usage;
    }
    if (["--version", "-v", "version"].includes(words[0] ?? "")) return print(own, `${own.version()}\n`);
    if (["--help", "-h", "help"].includes(words[0] ?? "")) return help(commands, words.slice(1), own);
    const found = findCommand(commands, words);
    if (found === null) return help(commands, words, own);
    const { command, rest } = found;
    if (asksForHelp(rest)) return print(own, commandHelp(command));
    await command.run(createContext(command, rest, own), rest);
    return exitCodes.ok;
  } catch (error) {
    // It loads the client, which a help needs not wait for.
    const { describeFailure } = await import("./describe-failure.ts");
    const { exitCode, lines, json } = describeFailure(error);
    if (own.environment.SIGNALBOX_DEBUG && error instanceof Error) own.stderr.write(`${error.stack}\n`);
    own.stderr.write(isJson ? `${printableJson(json)}\n` : `signalbox: ${lines.map(printableLines).join("\n")}\n`);
    return exitCode;
  }
}

function print({ stdout }: Process, text: string): number {
  stdout.write(text);
  return exitCodes.ok;
}

/** A word behind `--` is none of ours. */
const asksForHelp = (words: readonly string[]): boolean => {
  const own = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
  return own.some((word) => word === "--help" || word === "-h");
};

/** Prints the help of what the words begin: a command, a group of commands, or the program. */
function help(commands: readonly Command[], words: readonly string[], own: Process): number {
  const names = words.filter((word) => !word.startsWith("-"));
  const found = findCommand(commands, names);
  if (found !== null) return print(own, commandHelp(found.command));
  const [first] = names;
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (first === undefined) return print(own, programHelp(commands));
  if (group.length === 0) throw new UsageError(`There is no command "${first}".${nearest(commands, first)}`);
  if (names.length === 1 && asksForHelp(words)) return print(own, group.map(commandHelp).join("\n"));
  throw new UsageError(`Invalid command "${names.join(" ")}". Use: ${group.map(({ name }) => name).join(", ")}.`);
}

function findCommand(commands: readonly Command[], words: readonly string[]) {
  const command = commands.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
  return command ? { command, rest: words.slice(command.name.split(" ").length) } : null;
}

/** Names the commands that begin as the word does. */
function nearest(commands: readonly Command[], word: string): string {
  const names = commands.map(({ name }) => name).filter((name) => name.slice(0, 2) === word.slice(0, 2));
  return names.length > 0 ? ` Did you mean: ${names.join(", ")}?` : ' "signalbox --help" lists all.';
}

/** Moves the common options before a command behind it, where its own are. */
function withOptionsBehind(words: readonly string[]): readonly string[] {
  const before: string[] = [];
  let rest = [...words];
  for (;;) {
    const [first = "", value] = rest;
    const [name = "", inline] = first.slice(2).split("=", 2);
    const option = Object.entries(commonOptions).find(([own]) => own === name)?.[1];
    if (!first.startsWith("--") || option === undefined || name === "help") break;
    const takesNext = option.type === "string" && inline === undefined && value !== undefined;
    before.push(...rest.slice(0, takesNext ? 2 : 1));
    rest = rest.slice(takesNext ? 2 : 1);
  }
  return [...rest, ...before];
}

function createContext(command: Command, words: readonly string[], own: Process): Context {
  const { stdin, stdout, stderr, environment, nowMs, stopping } = own;
  const { json, profile, url } = parseWords(optionsOf(command), words).values;
  return {
    output: createOutput({ stdout, stderr, json: json === true, environment }),
    environment,
    nowMs,
    profiles: createProfiles(profilePath(environment)),
    profile: typeof profile === "string" ? profile : null,
    url: typeof url === "string" ? url : null,
    isInteractive: stdin.isTTY === true && stdout.isTTY === true && json !== true,
    stdin,
    stdout,
    stopping,
  };
}
