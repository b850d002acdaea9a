import type pg from "pg";
import type { MigrationFile } from "./migration-file.ts";

/** `expand`: the previous version runs on the result. `contract`: it does not. */
export type MigrationKind = "expand" | "contract";

const declaration = /^-- signalbox: (expand|contract)( concurrently)?$/m;

/** Reads the declaration in the first comment of a migration; without one it counts as `contract`, the safe reading. */
export function declaredKind(text: string): { readonly kind: MigrationKind; readonly concurrently: boolean } {
  const [, kind, concurrently] = declaration.exec(text) ?? [];
  return { kind: kind === "expand" ? "expand" : "contract", concurrently: concurrently !== undefined };
}

/** Statements after which the previous version may meet an error. */
const contracting =
  /\b(drop\s+(?!index\b|constraint\b)|rename\s|set\s+not\s+null|set\s+data\s+type|alter\s+column\s+\S+\s+type|truncate\s)/i;

/** Guesses the kind of a script, for the author to confirm. */
export function likelyKind(script: string): MigrationKind {
  return contracting.test(script) ? "contract" : "expand";
}

const table = "signalbox.migration_kinds";

/** Creates the table that tells older versions the kind of migrations they do not know, if it is missing. */
export async function prepareKinds(client: pg.Client): Promise<void> {
  await client.query("create schema if not exists signalbox");
  await client.query(
    `create table if not exists ${table} (owner text not null, name text not null, kind text not null, primary key (owner, name))`,
  );
}

/** Records the kind of a migration beside the migration itself. */
export async function recordKind(client: pg.Client, owner: string, { name, text }: MigrationFile): Promise<void> {
  const record = `insert into ${table} (owner, name, kind) values ($1, $2, $3) on conflict do nothing`;
  await client.query(record, [owner, name, declaredKind(text).kind]);
}

/** Returns the names of the migrations of `owner` that are recorded as expansions. */
export async function knownExpansions(client: pg.Client, owner: string): Promise<ReadonlySet<string>> {
  const found = await client.query("select to_regclass($1) is not null as there", [table]);
  if (!found.rows[0].there) return new Set();
  const { rows } = await client.query(`select name from ${table} where owner = $1 and kind = 'expand'`, [owner]);
  return new Set(rows.map(({ name }) => name as string));
}
