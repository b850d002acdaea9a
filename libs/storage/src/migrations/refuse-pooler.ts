import { MigrationError } from "./migration-history.ts";

/** The part of a connection that is asked. */
export interface Asked {
  query(text: string): Promise<{ readonly rows: readonly { readonly pid?: number }[] }>;
}

/** Said where a pooler was found. */
export const poolerFound =
  "database.url points to a pooler such as PgBouncer. Signalbox needs session locks, LISTEN and prepared statements: " +
  "point database.url to PostgreSQL itself";

/** Tells whether a message refuses our start-up parameters, as PgBouncer does and PostgreSQL does not. */
export const isOfPooler = (message: string): boolean => /^unsupported startup parameter/i.test(message);

/**
 * Refuses a pooler that gives each transaction any connection of the server, such as PgBouncer with
 * `pool_mode=transaction`: while `second` holds a transaction, `first` is answered by another process of the server than
 * before, or both by the same. @throws MigrationError
 */
export async function refusePooler(first: Asked, second: Asked): Promise<void> {
  const before = await processOf(first);
  await second.query("begin");
  try {
    const other = await processOf(second);
    if (before !== other && (await processOf(first)) === before) return;
  } finally {
    await second.query("rollback");
  }
  throw new MigrationError(poolerFound);
}

const processOf = async (connection: Asked): Promise<number | undefined> =>
  (await connection.query("select pg_backend_pid() as pid")).rows[0]?.pid;
