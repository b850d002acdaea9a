import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { connect } from "../connect.ts";
import type { Connection, Context } from "../context.ts";
import { confirm } from "../counted-replay.ts";
import type { Input } from "../declare.ts";
import { parseExactly, textOf } from "../exact-json.ts";
import { exitCodes, Failure, UsageError } from "../failures.ts";
import { mutate, runOperation } from "../graph.ts";
import type { ChangeOptions } from "./properties.ts";

interface Rule {
  readonly percentage?: number | null;
  readonly variant: string;
}

/** A flag as its author writes it. */
interface Definition {
  readonly key: string;
  readonly rules?: readonly Rule[] | null;
}

interface Flag extends Definition {
  readonly state: string;
  readonly type: string;
  readonly default: string;
  readonly rules: readonly Rule[];
  readonly variants: readonly { readonly name: string }[];
  readonly owner: string;
  readonly revision: string;
}

type FlagOptions = Omit<ChangeOptions, "expires">;

const definition = `key state type client description owner expires salt default off variants { name value }
  rules { name accounts roles locales age { from to } attributes { name operator value } percentage by variant }
  prerequisites { flag variants } schedule { from until }`;

async function flagsOf(connection: Connection): Promise<readonly Flag[]> {
  return (await runOperation(connection, `{ flags { ${definition} revision } }`)).flags as readonly Flag[];
}

async function flagOf(connection: Connection, key: string): Promise<Flag> {
  const found = (await flagsOf(connection)).find((flag) => flag.key === key);
  if (!found) throw new Failure(`There is no flag ${key}. Run: signalbox flags list`, exitCodes.notFound);
  return found;
}

const describeRules = (rules: readonly Rule[]): string =>
  rules
    .map(({ percentage, variant }) => `${variant}${percentage == null ? "" : ` ${textOf(percentage)} %`}`)
    .join(", ");

/** Lists the flags. */
export const list = {
  async run(context: Context): Promise<void> {
    const { output } = context;
    const flags = await flagsOf(await connect(context));
    const rows = flags.map(({ key, state, type, owner, rules, ...flag }) => {
      return [key, state, type, owner, flag.default, describeRules(rules)];
    });
    output.table(["KEY", "STATE", "TYPE", "OWNER", "DEFAULT", "RULES"], rows);
    output.document(flags);
  },
};

/** Prints the definition of a flag, as `flags set` takes it. */
export const get = {
  async run(context: Context, { args: [key = ""] }: Input<object>): Promise<void> {
    const { output } = context;
    const { revision, ...flag } = await flagOf(await connect(context), key);
    output.line(JSON.stringify(flag, null, 2));
    output.document({ ...flag, revision });
  },
};

/** Sets a flag to a definition in a file, once a dry run has shown that it is allowed. */
export const set = {
  async run(context: Context, { args: [file = ""], options }: Input<FlagOptions>): Promise<void> {
    const wanted = definitionIn(await readText(context, file));
    const connection = await connect(context);
    const known = (await flagsOf(connection)).find(({ key }) => key === wanted.key);
    await change(context, connection, wanted, known, options);
  },
};

/** Gives a variant to a share of the accounts: the rule with a percentage changes, or a last one is added. */
export const rollOut = {
  async run(
    context: Context,
    { args: [key = "", share = ""], options }: Input<FlagOptions & { readonly variant: string | undefined }>,
  ): Promise<void> {
    const percentage = /^\d{1,3}(\.\d{1,3})?%?$/.test(share) ? Number(share.replace("%", "")) : Number.NaN;
    if (!(percentage <= 100)) throw new UsageError(`Invalid share ${share}: use a number from 0 to 100.`);
    const connection = await connect(context);
    const { revision, ...flag } = await flagOf(connection, key);
    const { variant = "on" } = options;
    const rules = flag.rules.filter((rule) => rule.percentage == null || rule.variant !== variant);
    const wanted = { ...flag, rules: [...rules, { percentage, variant }] };
    await change(context, connection, wanted, { ...flag, revision }, options);
  },
};

/** Reads a file, or standard input where it is `-`. An `@` may stand before both. */
export async function readText({ stdin }: Context, given: string): Promise<string> {
  const file = given.replace(/^@/, "");
  return file === "-" ? text(stdin) : readFile(file, "utf8");
}

function definitionIn(source: string): Definition {
  try {
    const { revision: _, ...flag } = parseExactly(source) as Definition & { readonly revision?: unknown };
    if (typeof flag.key === "string") return flag;
  } catch {}
  throw new UsageError("The file must be a JSON object with the key of the flag, as signalbox flags get prints it.");
}

const waitMs = 5_000;

async function change(
  context: Context,
  connection: Connection,
  wanted: Definition,
  known: Flag | undefined,
  { reason, yes, "dry-run": isDryRun }: FlagOptions,
): Promise<void> {
  const { output } = context;
  if (reason === undefined) throw new UsageError("Give a reason for the change with --reason; the history shows it.");
  const input = { ...wanted, reason, expectedRevision: known?.revision ?? "0" };
  const send = (more: object) =>
    mutate<{ revision: string | null; instances: number; applied: number }>(
      connection,
      "setFlag",
      "revision instances applied",
      { ...input, ...more },
    );
  await send({ dryRun: true });
  const before = known === undefined ? "new" : describeRules(known.rules) || "no rules";
  output.line(`${wanted.key}: ${before} → ${describeRules(wanted.rules ?? []) || "no rules"}`);
  if (isDryRun) return output.document({ revision: null, flag: wanted });
  if (!yes) await confirm(context, "Change it?");
  const { revision, instances, applied } = await send({ waitForMs: waitMs });
  output.line(`Revision ${revision}: ${applied} of ${instances} instances evaluate with it.`);
  output.document({ revision, flag: wanted, instances, applied });
}
