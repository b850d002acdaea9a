import { parseArgs } from "node:util";
import type { Context } from "./context.ts";
import { UsageError } from "./failures.ts";

/** An option of a command. */
interface Option {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly multiple?: boolean;
  /** Name of its value in the help, such as `url`. */
  readonly value?: string;
  readonly describe: string;
}

export type OptionDeclarations = Readonly<Record<string, Option>>;

interface Argument {
  readonly name: string;
  readonly describe: string;
  readonly optional?: boolean;
}

/** The given options: a flag is false and a repeatable option empty when it is absent. */
type Given<O extends OptionDeclarations> = {
  readonly [Name in keyof O]: O[Name] extends { type: "boolean" }
    ? boolean
    : O[Name] extends { multiple: true }
      ? readonly string[]
      : string | undefined;
};

/** The arguments and options of one call. */
export interface Input<Options> {
  readonly args: readonly string[];
  readonly options: Options;
}

interface Implementation<O extends OptionDeclarations> {
  readonly run: (context: Context, input: Input<Given<O>>) => Promise<void>;
}

/** A command as its help, its completion and the reference show it. */
export interface Command {
  /** The words that name it, such as `events tail`. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly args: readonly Argument[];
  readonly options: OptionDeclarations;
  readonly examples: readonly string[];
  /** Loads the code of the command and runs it. */
  readonly run: (context: Context, words: readonly string[]) => Promise<void>;
}

type Declaration<O extends OptionDeclarations> = Pick<Command, "name" | "summary" | "description" | "examples"> & {
  readonly args?: readonly Argument[];
  readonly options: O;
  /** Imports the implementation, so that a call loads the code of its own command only. */
  readonly load: () => Promise<Implementation<O>>;
};

/** The options of every command. */
export const commonOptions = {
  json: { type: "boolean", describe: "Prints JSON: one document, or one line per item of a stream" },
  profile: { type: "string", value: "name", describe: "Uses this profile instead of the current one" },
  url: { type: "string", value: "url", describe: "Address of Signalbox, instead of the profile's" },
  help: { type: "boolean", short: "h", describe: "Prints this help" },
} as const satisfies OptionDeclarations;

/** Returns the options of a command, the common ones included. */
export const optionsOf = ({ options }: Pick<Command, "options">): OptionDeclarations => ({
  ...options,
  ...commonOptions,
});

/** Declares a command. Its implementation gets options of the declared types. */
export function declare<const O extends OptionDeclarations>({ load, args = [], ...rest }: Declaration<O>): Command {
  return {
    ...rest,
    args,
    async run(context, words) {
      const { values, positionals } = parseWords(optionsOf(rest), words);
      requireArguments(args, positionals);
      const { run } = await load();
      await run(context, { args: positionals, options: given(rest.options, values) });
    },
  };
}

type Values = Readonly<Record<string, unknown>>;

/** Parses the words of a call. @throws UsageError naming the word that is wrong */
export function parseWords(options: OptionDeclarations, words: readonly string[]) {
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { type, short, multiple = false }]) => [
      name,
      { type, multiple, ...(short === undefined ? {} : { short }) },
    ]),
  );
  try {
    const parsed = parseArgs({ args: [...words], options: config, allowPositionals: true, strict: true });
    return { values: parsed.values as Values, positionals: parsed.positionals };
  } catch (error) {
    // The rest of Node's message explains `--`, which no option of ours needs.
    if (error instanceof TypeError) throw new UsageError(error.message.split(/(?<=\.) |\n/)[0] ?? error.message);
    throw error;
  }
}

function requireArguments(args: readonly Argument[], given: readonly string[]): void {
  const missing = args.find(({ optional = false }, index) => !optional && given[index] === undefined);
  if (missing) throw new UsageError(`The argument <${missing.name}> is missing: ${missing.describe}.`);
  const extra = given[args.length];
  if (extra !== undefined) throw new UsageError(`Unexpected argument "${extra}".`);
}

function given<O extends OptionDeclarations>(options: O, values: Values): Given<O> {
  const entries = Object.entries(options).map(([name, { type, multiple }]) => {
    const absent = type === "boolean" ? false : multiple ? [] : undefined;
    return [name, values[name] ?? absent];
  });
  return Object.fromEntries(entries) as Given<O>;
}
