import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";
import pg from "pg";
import { MigrationError } from "./migration-history.ts";
import { isOfPooler, poolerFound, refusePooler } from "./refuse-pooler.ts";

export interface ConnectOptions {
  readonly url: string;
  readonly log: Logger;
  /** Time to wait for an engine that does not answer. */
  readonly waitMs: number;
}

const pauseMs = 250;
const databaseIsAbsent = "3D000";
const pausesBetweenLines = 20;

/**
 * Connects to the database of `url`, creating it if it is missing and waiting for its engine if that is not running.
 */
export async function connectWhenThere(options: ConnectOptions): Promise<pg.Client> {
  const pauses = Math.ceil(options.waitMs / pauseMs);
  for (let pause = 0; ; pause++) {
    try {
      const client = await connectOrCreate(options.url);
      await withoutPooler(client, options.url);
      return client;
    } catch (error) {
      const where = `PostgreSQL at ${hostOf(options.url)}`;
      if (error instanceof MigrationError) throw error;
      if (isOfPooler(reasonOf(error))) throw new MigrationError(poolerFound, { cause: error });
      if (!isUnavailable(error))
        throw new MigrationError(`${where} refused the connection: ${reasonOf(error)}`, { cause: error });
      if (pause >= pauses) {
        const message = `${where} did not answer within ${options.waitMs / 1000} s (${reasonOf(error)})`;
        throw new MigrationError(`${message}: start it, or correct database.url`, { cause: error });
      }
      if (pause % pausesBetweenLines === 0) options.log.warn({ reason: reasonOf(error) }, `waiting for ${where}`);
      await sleep(pauseMs);
    }
  }
}

async function connectOrCreate(url: string): Promise<pg.Client> {
  try {
    return await connect(url);
  } catch (error) {
    if ((error as { code?: string }).code !== databaseIsAbsent) throw error;
    await createDatabase(url);
    return connect(url);
  }
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString,
    application_name: "signalbox migrate",
    options: "-c search_path=public", // not "$user": a role named signalbox would match the libraries' schema of that name
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  client.on("error", () => {}); // a lost connection shows in the pending statement
  await client.connect();
  return client;
}

async function withoutPooler(client: pg.Client, url: string): Promise<void> {
  let second: pg.Client | undefined;
  try {
    second = await connect(url);
    await refusePooler(client, second);
  } catch (error) {
    await client.end();
    throw error;
  } finally {
    await second?.end();
  }
}

async function createDatabase(url: string): Promise<void> {
  const name = databaseOf(url);
  const maintenance = new URL(url);
  maintenance.pathname = "/postgres";
  const client = await connect(maintenance.href);
  try {
    // template0 accepts no connections: template1 refuses to be copied while a session is connected to it.
    await client.query(`create database ${pg.escapeIdentifier(name)} template template0`);
  } catch (error) {
    // Another instance was faster: the name exists, or its row arrived while ours was written.
    if (!["42P04", "23505"].includes((error as { code?: string }).code ?? "")) throw error;
  } finally {
    await client.end();
  }
}

/** The database name of a `postgres://` URL. */
export const databaseOf = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1)) || "postgres";

const hostOf = (url: string): string => new URL(url).host || "the local socket";

const reasonOf = (error: unknown): string => {
  const { code, message } = error as { code?: string; message?: string };
  return message || code || String(error);
};
