import { randomBytes } from "node:crypto";
import pg from "pg";
import { endpointOf } from "./test-engines.ts";

export interface TestDatabase {
  readonly url: string;
  readonly name: string;
  /** Ends the connections that are still open and drops the database. */
  close(): Promise<void>;
}

/** Creates an empty database on the shared PostgreSQL. */
export async function testDatabase(): Promise<TestDatabase> {
  const { url: serverUrl } = await endpointOf("postgres");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await execute(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = name;
  return { url: url.href, name, close: () => execute(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** The driver itself, not `libs/storage`: a test of storage must not rest on what it tests. */
async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: "signalbox-testing" });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
