import pg from "pg";

/** A row as the server sends it; numbers beyond 2^53 arrive as text. */
// biome-ignore lint/suspicious/noExplicitAny: each statement has columns of its own.
export type Row = Record<string, any>;
export type Query = (database: string, statement: string, values?: readonly unknown[]) => Promise<Row[]>;

const statementMs = 20_000;

/** Plain SQL over a new connection each time: a kept one would be broken by the next fault. */
export function createQuery(urlOf: (database: string) => string | Promise<string>): Query {
  return async (database, statement, values = []) => {
    const connectionString = await urlOf(database);
    const client = new pg.Client({
      connectionString,
      application_name: "ledger",
      connectionTimeoutMillis: statementMs,
      query_timeout: statementMs,
    });
    // A server that is killed while the connection ends reports it here; a pending query gets the error as well.
    client.on("error", () => {});
    try {
      await client.connect();
      return (await client.query(statement, [...values])).rows;
    } finally {
      await client.end().catch(() => {});
    }
  };
}
