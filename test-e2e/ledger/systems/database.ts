import pg from "pg";
import { unlimited } from "../../systems/system.ts";

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

/** The properties of every ledger: no limits, receivers on this host, and short deadlines for slow ones. */
export function ledgerProperties(issuer: string, stagingFolder: string): Record<string, string> {
  const trusted = { name: "ledger", issuer, audience: "signalbox", "roles-claim": "roles" };
  return {
    ...unlimited,
    "auth.issuers": JSON.stringify([trusted]),
    "account.issuer.enabled": "false",
    "account.api-keys.max": "1000",
    "http.strict-responses": "true",
    "images.upload.directory": stagingFolder,
    "management.endpoints.web.exposure.include": "health,metrics,info,env",
    "webhook-delivery.outbound.allow": "127.0.0.1:*",
  };
}
