import type { Writable } from "node:stream";
import type pg from "pg";
import { connectForBackup, copyOut } from "./copy-rows.ts";
import { type DatabaseDescription, describeDatabase, type TableDescription } from "./describe-database.ts";

/** Another session locked one of the tables for longer than the permitted wait. */
export class DatabaseBusy extends Error {
  override readonly name = "DatabaseBusy";
}

const lockTimedOut = "55P03";

/** A consistent view of a database at one moment, while it is open. */
export interface DatabaseSnapshot {
  /** Blocks writers of the held tables until `release`. @throws DatabaseBusy */
  hold(waitMs: number): Promise<void>;
  /** Fixes the moment of the snapshot: now. */
  look(): Promise<void>;
  release(): Promise<void>;
  describe(): Promise<DatabaseDescription>;
  /** Writes the rows of a table in the text format of `copy`; returns their number. */
  copyTable(table: TableDescription, target: Writable): Promise<number>;
  /** Reads one text column of a statement. */
  texts(statement: string): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * Prepares a snapshot. Until it is closed no table of the database can be altered or dropped; rows can still change,
 * and only `hold` blocks writers of the held tables.
 */
export async function openDatabaseSnapshot(url: string, held: readonly string[]): Promise<DatabaseSnapshot> {
  const [holder, reader] = [await connectForBackup(url), await connectForBackup(url)];
  const close = async () => void (await Promise.allSettled([holder.end(), reader.end()]));
  try {
    const { tables } = await describeDatabase(holder);
    if (tables.length === 0) throw new Error(`the database ${new URL(url).pathname.slice(1)} has no tables to back up`);
    // No other statement before the moment is chosen: the first statement that reads would choose it.
    await reader.query("begin isolation level repeatable read read only");
    await reader.query(`lock table ${tables.map(({ name }) => name).join(", ")} in access share mode`);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async hold(waitMs) {
      await holder.query(`begin; set local lock_timeout = ${Math.ceil(waitMs)}`);
      await holder.query(`lock table ${held.join(", ")} in share mode`).catch(busy);
    },
    look: async () => void (await reader.query("select 1")),
    release: async () => void (await holder.query("rollback")),
    describe: () => describeDatabase(reader),
    copyTable: (table, target) =>
      copyOut(reader, `copy (select ${listed(table)} from ${table.name}) to stdout`, target),
    texts: async (statement) => textsOf(await reader.query({ text: statement, rowMode: "array" })),
    close,
  };
}

const listed = ({ columns }: TableDescription): string => columns.join(", ");

const textsOf = ({ rows }: pg.QueryResult): string[] => (rows as unknown as [string][]).map(([text]) => text);

function busy(error: unknown): never {
  if ((error as { code?: string }).code === lockTimedOut) throw new DatabaseBusy("a table is in use", { cause: error });
  throw error;
}
