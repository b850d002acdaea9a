import { type Command, commonOptions, type OptionDeclarations } from "./declare.ts";
import { exitCodes, exitMeanings } from "./failures.ts";

/** Returns the call of a command as its help shows it: `signalbox why <id> [options]`. */
export function usageOf({ name, args, options }: Command): string {
  const words = args.map(({ name: word, optional }) => (optional ? `[${word}]` : `<${word}>`));
  return ["signalbox", name, ...words, ...(Object.keys(options).length > 0 ? ["[options]"] : [])].join(" ");
}

/** Returns an option as it is typed: `-o, --output <file>`. */
export function optionWords(name: string, { short, value }: OptionDeclarations[string]): string {
  return `${short ? `-${short}, ` : ""}--${name}${value ? ` <${value}>` : ""}`;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}

const optionRows = (options: OptionDeclarations) =>
  Object.entries(options).map(([name, option]) => [optionWords(name, option), option.describe] as const);

/** Returns the help of one command, with an example of its use. */
export function commandHelp(command: Command): string {
  const { summary, description, args, options, examples } = command;
  const sections = [
    `${summary}.`,
    `Usage: ${usageOf(command)}`,
    description,
    args.length > 0 && `Arguments:\n${columns(args.map(({ name, describe }) => [name, describe]))}`,
    Object.keys(options).length > 0 && `Options:\n${columns(optionRows(options))}`,
    `Global options:\n${columns(optionRows(commonOptions))}`,
    `Examples:\n${examples.map((example) => `  ${example}`).join("\n")}`,
  ];
  return `${sections.filter(Boolean).join("\n\n")}\n`;
}

/** Returns the help of the program, or of the commands that begin with a word. */
export function programHelp(commands: readonly Command[]): string {
  const codes = Object.entries(exitMeanings).map(
    ([name, meaning]) => [String(exitCodes[name as keyof typeof exitCodes]), meaning] as const,
  );
  return `Signalbox in a terminal and in scripts.

Usage: signalbox <command> [options]

Commands:
${columns(commands.map(({ name, summary }) => [name, summary]))}

Global options:
${columns([...optionRows(commonOptions), ["-v, --version", "Prints the version"]])}

Environment:
${columns(environmentRows)}

Exit codes:
${columns(codes)}

Example:
  signalbox listen --forward http://localhost:3000/hooks --events 'image.*'

"signalbox <command> --help" explains a command, with examples.
`;
}

/** The variables that the command reads. */
export const environmentRows: readonly (readonly [string, string])[] = [
  ["SIGNALBOX_URL", "Address of Signalbox, overrides the profile's"],
  ["SIGNALBOX_API_KEY", "API key, overrides the profile's credential"],
  ["SIGNALBOX_WEBHOOK_SECRET", "Secret of signalbox verify"],
  ["XDG_CONFIG_HOME", "Folder of signalbox/profiles.json, ~/.config by default"],
  ["HTTPS_PROXY", "Proxy for requests to Signalbox; also HTTP_PROXY and NO_PROXY"],
  ["SIGNALBOX_DEBUG", "Any value prints the stack trace of a failure"],
  ["NO_COLOR", "Disables colours, as does TERM=dumb"],
];
