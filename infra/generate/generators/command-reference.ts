import {
  type Command,
  commands,
  commonOptions,
  environmentRows,
  exitCodes,
  exitMeanings,
  optionWords,
  usageOf,
} from "@signalbox/client/command";
import { fileGenerator } from "../generator.ts";

/** The page of every command, from the declarations that the program runs. */
export const commandReference = fileGenerator("docs/reference/command-line.md", page);

function page(): string {
  const codes = Object.entries(exitMeanings).map(
    ([name, meaning]) => `- ${exitCodes[name as keyof typeof exitCodes]}: ${meaning}`,
  );
  const variables = environmentRows.map(([name, meaning]) => `- \`${name}\`: ${meaning}`);
  return `# Command line

Generated from \`libs/client\` by \`npm run generate\`. [How to use it](../how-to/use-the-command-line.md).

Global options:

${optionLines(commonOptions).join("\n")}

Exit codes:

${codes.join("\n")}

Environment variables:

${variables.join("\n")}

Results go to standard output, everything else to standard error. With \`--json\` a failure is a JSON document there:
\`{"error":{"code":…,"message":…,"details":…,"request_id":…}}\`. Control and direction characters in anything that came from outside are
shown as \`\\u001b\`; JSON stays the same document.

${commands.map(section).join("\n")}`;
}

function section(command: Command): string {
  const { name, summary, description, args, options, examples } = command;
  const given = args.map(({ name: word, describe }) => `- \`${word}\`: ${escaped(describe)}`);
  const parts = [
    `## signalbox ${name}\n`,
    `${summary}. ${description.replaceAll("\n", " ")}\n`,
    `\`\`\`text\n${[usageOf(command), ...examples.filter((example) => example !== `signalbox ${name}`)].join("\n")}\n\`\`\`\n`,
    (given.length > 0 || Object.keys(options).length > 0) && `${[...given, ...optionLines(options)].join("\n")}\n`,
  ];
  return parts.filter(Boolean).join("\n");
}

const optionLines = (options: Command["options"]): string[] =>
  Object.entries(options).map(([name, option]) => `- \`${optionWords(name, option)}\`: ${escaped(option.describe)}`);

/** Angle brackets would be HTML. */
const escaped = (text: string): string => text.replaceAll("<", "&lt;");
