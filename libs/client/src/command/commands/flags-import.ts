import { connect } from "../connect.ts";
import type { Context } from "../context.ts";
import { confirm } from "../counted-replay.ts";
import type { Input } from "../declare.ts";
import { repeatedMember, roundedNumber } from "../exact-json.ts";
import { Failure, UsageError } from "../failures.ts";
import { importFlagd } from "../flag-import/import-flagd.ts";
import { importUnleash } from "../flag-import/import-unleash.ts";
import { type Fields, type Imported, ImportProblem, isFields } from "../flag-import/imported-flag.ts";
import { mutate, runOperation } from "../graph.ts";
import { readText } from "./flags.ts";
import type { ChangeOptions } from "./properties.ts";

interface ImportOptions extends Omit<ChangeOptions, "expires"> {
  readonly from: string | undefined;
  readonly environment: string | undefined;
  readonly owner: string | undefined;
}

/** Creates or replaces the flags of a file of flagd or Unleash, once all of them have been tried. */
export async function run(context: Context, { args: [file = ""], options }: Input<ImportOptions>): Promise<void> {
  const { output } = context;
  const { reason, owner, yes, "dry-run": isDryRun } = options;
  if (reason === undefined) throw new UsageError("Give a reason for the change with --reason; the history shows it.");
  if (owner === undefined) throw new UsageError("Name the contact for questions about the flags with --owner.");
  const { flags, problems } = read(await sourceOf(context, file), options);
  const connection = await connect(context);
  const known = (await runOperation(connection, "{ flags { key revision } }")).flags as readonly Known[];
  const inputs = flags.map((flag) => {
    const expectedRevision = known.find(({ key }) => key === flag.key)?.revision ?? "0";
    return { ...flag, owner, reason, expectedRevision };
  });
  const keys = flags.map(({ key }) => key);
  const repeated = new Set(keys.filter((key, at) => keys.indexOf(key) !== at));
  const refused = [...problems.map(({ message }) => message), ...[...repeated].map((key) => `${key}: is there twice.`)];
  for (const input of inputs) {
    await mutate(connection, "setFlag", "revision", { ...input, dryRun: true }).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
      refused.push(`${input.key}: ${error.message}`);
    });
  }
  // A file is imported whole or not at all: a flag that is left out would silently be the caller's default.
  if (refused.length > 0) throw new Failure(refused.join("\n"));
  for (const { key, type, rules, expectedRevision } of inputs) {
    const state = expectedRevision === "0" ? "new" : "replaced";
    output.line(`${key}: ${state}, ${type}, ${rules.length} rules`);
  }
  if (inputs.length === 0) output.line("The file has no flags.");
  if (isDryRun || inputs.length === 0) return output.document({ flags, revisions: [] });
  if (!yes) await confirm(context, `Set ${inputs.length} flags?`);
  const revisions: (string | null)[] = [];
  for (const input of inputs) {
    const { revision } = await mutate<{ revision: string | null }>(connection, "setFlag", "revision", input);
    revisions.push(revision);
  }
  output.line(`Set ${inputs.length} flags. Shares keep their sizes; the accounts in them are reassigned.`);
  output.document({ flags, revisions });
}

interface Known {
  readonly key: string;
  readonly revision: string;
}

async function sourceOf(context: Context, file: string): Promise<Fields> {
  const source = await readText(context, file);
  const value = parsed(source);
  if (!isFields(value)) throw new UsageError(`${file} is not a JSON object.`);
  const twice = repeatedMember(source);
  if (twice !== null) throw new UsageError(`${file}:${twice.line}: The member ${twice.name} is there twice.`);
  const rounded = roundedNumber(source);
  if (rounded === null) return value;
  throw new UsageError(`${file}:${rounded.line}: ${rounded.source} would be rounded. Write it as text, or shorten it.`);
}

function parsed(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return null;
  }
}

const kinds = ["flagd", "unleash"];

function read(file: Fields, { from, environment }: ImportOptions): Imported {
  // flagd keeps flags by their keys, Unleash in a list.
  const kind = from ?? (isFields(file.flags) ? "flagd" : "unleash");
  if (!kinds.includes(kind)) throw new UsageError(`--from must be one of ${kinds.join(", ")}.`);
  try {
    return kind === "flagd" ? importFlagd(file) : importUnleash(file, environment);
  } catch (error) {
    if (error instanceof ImportProblem) throw new UsageError(error.message);
    throw error;
  }
}
