import { dataOf } from "../../answers.ts";
import { connect } from "../connect.ts";
import type { Context } from "../context.ts";
import { type Command, type Input, optionsOf } from "../declare.ts";
import { UsageError } from "../failures.ts";
import { printable } from "../output.ts";

/** Creates the command that prints completion scripts, which are made from the declarations of all commands. */
export const createCompletion = (commands: () => readonly Command[]) => ({
  async run(context: Context, { args: [shell = ""] }: Input<object>): Promise<void> {
    const { stdout } = context;
    const found = Object.hasOwn(values, shell) ? await values[shell]?.(context).catch(() => []) : null;
    if (found) return void stdout.write(found.map((value) => `${printable(value)}\n`).join(""));
    const write = Object.hasOwn(scripts, shell) ? scripts[shell as keyof typeof scripts] : null;
    if (write === null)
      throw new UsageError(`There is no completion for "${shell}": use ${Object.keys(scripts).join(", ")}.`);
    stdout.write(write(commands()));
  },
});

/** Values that a script asks for at a Tab: `signalbox completion endpoints`. None is no reason to disturb the line. */
const values: Readonly<Record<string, (context: Context) => Promise<readonly string[]>>> = {
  profiles: async ({ profiles }) => Object.keys((await profiles.read()).profiles),
  async endpoints(context) {
    const { client } = await connect(context);
    const { items } = await dataOf(client.GET("/api/v1/webhooks/endpoints", { params: { query: { limit: 100 } } }));
    return items.map(({ id }) => id);
  },
  async types(context) {
    const { client } = await connect(context);
    const { items } = await dataOf(client.GET("/api/v1/webhooks/event-types", { params: { query: { limit: 100 } } }));
    return items.map(({ name }) => name);
  },
};

/** The values of an option, by its name. */
const valuesOf: Readonly<Record<string, string>> = {
  profile: "profiles",
  endpoint: "endpoints",
  events: "types",
  as: "types",
};

const asking = (kind: string): string => `$(signalbox completion ${kind} 2>/dev/null)`;

const scripts = { bash, zsh, fish };

const flagsOf = (command: Command): string[] => Object.keys(optionsOf(command)).map((name) => `--${name}`);

/** The first words, and the second words behind those that begin a group. */
function wordsOf(commands: readonly Command[]) {
  const first = [...new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""))];
  const groups = first.flatMap((word) => {
    const second = commands.flatMap(({ name }) => (name.startsWith(`${word} `) ? [name.slice(word.length + 1)] : []));
    return second.length > 0 ? [[word, second] as const] : [];
  });
  return { first, groups };
}

function bash(commands: readonly Command[]): string {
  const { first, groups } = wordsOf(commands);
  const cases = [
    ...commands.map((command) => `    "${command.name}") words="${flagsOf(command).join(" ")}" ;;`),
    ...groups.map(([word, second]) => `    "${word}") words="${second.join(" ")}" ;;`),
  ];
  return `# Completion of signalbox for bash: source <(signalbox completion bash)
_signalbox() {
  local current="\${COMP_WORDS[COMP_CWORD]}" name="\${COMP_WORDS[1]}" words
  case "$name" in ${groups.map(([word]) => word).join("|")}) [ "$COMP_CWORD" -gt 2 ] && name="$name \${COMP_WORDS[2]}" ;; esac
  [ "$COMP_CWORD" -eq 1 ] && name=""
  case "$name" in
    "") words="${first.join(" ")}" ;;
${cases.join("\n")}
  esac
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${Object.entries(valuesOf)
  .map(([name, kind]) => `    --${name}) COMPREPLY=($(compgen -W "${asking(kind)}" -- "$current")); return ;;`)
  .join("\n")}
  esac
  COMPREPLY=()
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) [ "\${words#-}" = "$words" ] && COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
  esac
}
complete -o default -F _signalbox signalbox
`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const actionOf = (option: string): string => {
  const kind = valuesOf[option];
  return kind === undefined ? "_files" : `{compadd -- ${asking(kind)}}`;
};

function zsh(commands: readonly Command[]): string {
  const { groups } = wordsOf(commands);
  const described = commands.map(({ name, summary }) => quoted(`${name.split(" ")[0]}:${summary}`));
  const cases = commands.map((command) => {
    const flags = Object.entries(optionsOf(command)).map(([name, { describe, value }]) =>
      quoted(
        `--${name}[${describe.replaceAll(/[[\]]/g, "")}]${value ? `:${value.replaceAll(":", "")}:${actionOf(name)}` : ""}`,
      ),
    );
    return `    ${quoted(command.name)}) _arguments ${flags.join(" ")} '*:file:_files' ;;`;
  });
  const ofGroups = groups.map(([word, second]) => `    ${quoted(word)}) compadd ${second.join(" ")} ;;`);
  return `#compdef signalbox
# Completion of signalbox for zsh: signalbox completion zsh > ~/.zfunc/_signalbox
_signalbox() {
  local name="\${words[2]}"
  local -a commands=(${described.join(" ")})
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case "$name" in ${groups.map(([word]) => word).join("|")}) (( CURRENT > 3 )) && name="$name \${words[3]}" ;; esac
  case "$name" in
${[...cases, ...ofGroups].join("\n")}
  esac
}
# A file of fpath is run for the first Tab, and completes it; a sourced one is registered.
if [[ "\${funcstack[1]}" == _signalbox ]]; then _signalbox "$@"; else compdef _signalbox signalbox; fi
`;
}

const fishValues = (option: string): string => {
  const kind = valuesOf[option];
  return kind === undefined ? "" : ` -f -a '(signalbox completion ${kind} 2>/dev/null)'`;
};

function fish(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => {
    const { name, summary } = command;
    const [first = "", second] = name.split(" ");
    const inside = second ? `__fish_seen_subcommand_from ${first}` : "__fish_use_subcommand";
    const at = `complete -c signalbox -n ${quoted(`__fish_seen_subcommand_from ${first}`)}`;
    const flags = Object.entries(optionsOf(command)).map(
      ([option, { short, describe, value }]) =>
        `${at} -l ${option}${short ? ` -s ${short}` : ""}${value ? " -r" : ""}${fishValues(option)} -d ${quoted(describe)}`,
    );
    const own = `complete -c signalbox -f -n ${quoted(inside)} -a ${second ?? first} -d ${quoted(summary)}`;
    const group = second ? [`complete -c signalbox -f -n __fish_use_subcommand -a ${first}`] : [];
    return [...group, own, ...flags];
  });
  return `# Completion of signalbox for fish\n${[...new Set(lines)].join("\n")}\n`;
}
