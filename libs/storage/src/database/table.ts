import { hash } from "node:crypto";
import { snakeCase } from "@signalbox/core";
import { changedRows, type Queryable, type Statement, sql, sqlRows } from "./prepared-statement.ts";
import type { Tx } from "./transaction.ts";

/** The columns of a table by domain name, each with its PostgreSQL type: `{ accountId: "text", scopes: "text[]" }`. */
type Columns = Readonly<Record<string, string>>;

type RowOf<Name extends string> = Readonly<Record<Name, unknown>>;

/** One table of a service: the SQL fragments of its statements, and the common writes. */
export interface Table<Name extends string> {
  /** `id, account_id as "accountId", …`: the list of a select or `returning` that gives rows with domain names. */
  readonly columns: string;
  /** Inserts the row. */
  insert(db: Queryable, row: RowOf<Name>): Promise<void>;
  /** Inserts the row unless it conflicts with an existing one; returns true when it was inserted. */
  insertNew(db: Queryable, row: RowOf<Name>): Promise<boolean>;
  /** Inserts the rows that conflict with none, with one statement. Their order is that of their locks. */
  insertNewRows(db: Queryable, rows: readonly RowOf<Name>[]): Promise<void>;
  /**
   * Builds an update of these columns of the row with this `id`; it returns true when the row exists. Under
   * `inOneStatement` it succeeds only for the row as it was read: the row must hold its `version`, which is
   * `xmin::text`.
   */
  update<Written extends Name>(...names: readonly Written[]): (tx: Tx, row: RowOf<Written | "id">) => Promise<boolean>;
}

/**
 * Declares a table once, at module level: `const keys = table("api_keys", columns.api_keys, ["renamedAt"])`, without the
 * columns that statements of its own write. A column has the name of its member, in snake case. The first column is the primary key `id` if rows are updated. `jsonb`
 * values are written as JSON texts. The text after a type is part of the written expression: `interval +
 * statement_timestamp()` takes a duration.
 */
export function table<const C extends Columns, const Without extends keyof C = never>(
  name: string,
  declared: C,
  without: readonly Without[] = [],
): Table<Exclude<keyof C & string, Without>> {
  type Name = Exclude<keyof C & string, Without>;
  const names = Object.keys(declared).filter((one) => !without.includes(one as Without)) as Name[];
  const list = (some: readonly Name[]) => some.map(snakeCase).join(", ");
  const valuesOf = (row: RowOf<Name>, some: readonly Name[]) => some.map((one) => stored(row[one], declared[one]));
  const places = names.map((one, index) => `$${index + 1}::${declared[one]}`).join(", ");
  const insertText = (rows: string) => `insert into ${name} (${list(names)}) ${rows}`;
  const insert = sqlRows(`${name}.insert`, `(${places})`, insertText);
  const insertNew = sql(`${name}.insert-new`, `${insertText(`values (${places})`)} on conflict do nothing`);
  const fromJson = `select ${list(names)} from jsonb_populate_recordset(null::${name}, $1::jsonb)`;
  const insertNewRows = sql(`${name}.insert-new-rows`, `${insertText(fromJson)} on conflict do nothing`);

  return {
    columns: names.map((one) => (snakeCase(one) === one ? one : `${snakeCase(one)} as "${one}"`)).join(", "),
    insert: async (db, row) => void (await db.query(insert, valuesOf(row, names))),
    insertNew: async (db, row) => (await db.query(insertNew, valuesOf(row, names))).rowCount === 1,
    async insertNewRows(db, rows) {
      const inColumns = (row: RowOf<Name>) => Object.fromEntries(names.map((one) => [snakeCase(one), row[one]]));
      await db.query(insertNewRows, [JSON.stringify(rows.map(inColumns))]);
    },
    update(...written) {
      const sent = ["id" as Name, ...written];
      const locked = updateById(name, sent, declared);
      const asRead = updateAsRead(name, sent, declared);
      return async (tx, row) => {
        const values = valuesOf(row as RowOf<Name>, sent);
        const { rowCount } = tx.isOneStatement
          ? await tx.query(asRead, [...values, (row as { readonly version?: string }).version])
          : await tx.query(locked, values);
        return rowCount === 1;
      };
    },
  };
}

function updateById(name: string, [, ...written]: readonly string[], types: Columns): Statement {
  const set = written.map((one, index) => `${snakeCase(one)} = $${index + 2}::${types[one]}`).join(", ");
  return sql(statementName(`${name}.update`, written), `update ${name} set ${set} where id = $1`);
}

function updateAsRead(name: string, sent: readonly string[], types: Columns): Statement {
  const places = sent.map((one, index) => `$${index + 1}::${types[one]}`).join(", ");
  const set = sent.slice(1).map((one) => `${snakeCase(one)} = given.${snakeCase(one)}`);
  return changedRows(
    statementName(`${name}.update-as-read`, sent.slice(1)),
    `(${places}, $${sent.length + 1}::text::xid)`,
    { table: name, names: [...sent.map(snakeCase), "version"], keyWidth: 1, condition: `${name}.xmin = given.version` },
    set.join(", "),
  );
}

/** A name has at most 63 bytes and belongs to one text, so it contains a digest of the columns. */
const statementName = (prefix: string, written: readonly string[]): string =>
  `${prefix}-${hash("sha1", written.join(), "base64url").slice(0, 8)}`;

const stored = (value: unknown, type: string | undefined): unknown =>
  type === "jsonb" && value !== null && value !== undefined ? JSON.stringify(value) : value;
