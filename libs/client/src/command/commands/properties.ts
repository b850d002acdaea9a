import { connect } from "../connect.ts";
import type { Connection, Context } from "../context.ts";
import { confirm } from "../counted-replay.ts";
import type { Input } from "../declare.ts";
import { parseExactly, textOf } from "../exact-json.ts";
import { exitCodes, Failure, UsageError } from "../failures.ts";
import { mutate, runOperation } from "../graph.ts";

interface Override {
  readonly name: string;
  readonly revision: string;
}

interface Property {
  readonly name: string;
  readonly services: readonly string[];
  readonly type: "string" | "integer" | "number" | "boolean" | "list";
  readonly value: unknown;
  readonly masked: boolean;
  readonly source: string | null;
  readonly overrides: readonly Override[];
}

interface Result {
  readonly name: string;
  readonly value: unknown;
  readonly masked: boolean;
  readonly shadowedBy: string | null;
  readonly appliesAt: "LIVE" | "RESTART";
  readonly instances: number;
  readonly applied: number;
}

export interface ChangeOptions {
  readonly reason: string | undefined;
  readonly expires: string | undefined;
  readonly "dry-run": boolean;
  readonly yes: boolean;
}

const selection = `name services type unit secrecy audience reload overridable effect value masked source
  bounds { min max choices pattern maxLength nullable } overrides { name value masked revision reason expiresAt }`;

async function propertiesOf(connection: Connection): Promise<readonly Property[]> {
  return (await runOperation(connection, `{ properties { ${selection} } }`)).properties as readonly Property[];
}

/** Finds a property by its bare name, or by the name of one service's own: `images.database.pool.max`. */
async function propertyOf(connection: Connection, name: string): Promise<Property> {
  const all = await propertiesOf(connection);
  const bare = (own: Property) =>
    own.name === name || own.services.some((service) => `${service}.${own.name}` === name);
  const found = all.find(bare);
  if (!found) throw new Failure(`There is no property ${name}. Run: signalbox properties list`, exitCodes.notFound);
  return found;
}

const shown = ({ value, masked }: Pick<Property, "value" | "masked">): string =>
  masked ? "******" : value === null ? "none" : textOf(value);

/** Lists the properties whose names contain a text. */
export const list = {
  async run(context: Context, { args: [part = ""] }: Input<object>): Promise<void> {
    const { output } = context;
    const found = (await propertiesOf(await connect(context))).filter(({ name }) => name.includes(part));
    const rows = found.map((each) => [each.name, each.source ?? "", shown(each)]);
    output.table(["NAME", "SOURCE", "VALUE"], rows);
    output.document(found);
  },
};

/** Shows one property. */
export const get = {
  async run(context: Context, { args: [name = ""] }: Input<object>): Promise<void> {
    const { output } = context;
    const { overrides, ...found } = await propertyOf(await connect(context), name);
    const rows = Object.entries({ ...found, value: shown(found) }).map(([member, value]) => [
      member,
      typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? ""),
    ]);
    output.table(null, [...rows, ...overrides.map((each) => ["override", JSON.stringify(each)])], dimFirst);
    output.document({ ...found, overrides });
  },
};

const dimFirst = (_row: number, column: number) => (column === 0 ? ("dim" as const) : null);

/** Sets an override, once a dry run has shown that it is allowed. */
export const set = {
  async run(context: Context, { args: [name = "", text = ""], options }: Input<ChangeOptions>): Promise<void> {
    await change(context, name, options, (property) => ({ value: parsedValue(property, text) }));
  },
};

/** Removes an override. */
export const unset = {
  run: (context: Context, { args: [name = ""], options }: Input<ChangeOptions>): Promise<void> =>
    change(context, name, options, () => ({ unset: true })),
};

/** Reads a value of the property's type; `null` means none. */
function parsedValue({ type }: Property, text: string): unknown {
  if (text === "null") return null;
  if (type === "string") return text;
  if (type === "list") return text === "" ? [] : text.split(",").map((item) => item.trim());
  try {
    return parseExactly(text);
  } catch {
    return text;
  }
}

const waitMs = 5_000;

async function change(
  context: Context,
  name: string,
  { reason, expires, yes, "dry-run": isDryRun }: ChangeOptions,
  wantedOf: (property: Property) => object,
): Promise<void> {
  const { output } = context;
  if (reason === undefined) throw new UsageError("Give a reason for the change with --reason; the history shows it.");
  const connection = await connect(context);
  const property = await propertyOf(connection, name);
  const expectedRevision = property.overrides.find((each) => each.name === name)?.revision ?? "0";
  const changes = [{ name, expectedRevision, ...wantedOf(property) }];
  const input = { changes, reason, expiresAt: expires };
  const send = (more: object) =>
    mutate<{ revision: string | null; results: readonly Result[] }>(
      connection,
      "setProperties",
      "revision results { name value masked shadowedBy appliesAt instances applied }",
      { ...input, ...more },
    );
  const [planned] = (await send({ dryRun: true })).results;
  if (!planned) throw new Failure("Signalbox returned no result.");
  output.line(`${name}: ${shown(property)} → ${shown(planned)}, ${whenOf(planned)}`);
  if (isDryRun) return output.document({ revision: null, result: planned });
  if (!yes) await confirm(context, "Change it?");
  const { revision, results } = await send({ waitForMs: waitMs });
  const made = results[0] ?? planned;
  output.line(`Revision ${revision}: ${made.applied} of ${made.instances} instances run with it.`);
  output.document({ revision, result: made });
}

function whenOf({ appliesAt, shadowedBy }: Result): string {
  if (shadowedBy !== null) return `no effect while the ${shadowedBy} sets another value`;
  return appliesAt === "LIVE" ? "at once" : "at the next start";
}
