import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { parseApiKey } from "@signalbox/auth";
import type { Logger, Metrics, ServiceParts } from "@signalbox/runtime";
import { openPool, sql } from "@signalbox/storage";
import { readWhole, writeDurably } from "../engines/durable-file.ts";
import { databaseOf } from "./embedded-defaults.ts";
import { embeddedServices } from "./embedded-services.ts";

/**
 * The key of the sealed secrets. A lost one is made anew only while nothing can have been sealed with it: the databases
 * of the services come after the key.
 */
export async function keptSealingKey(
  dataDirectory: string,
  hasServiceDatabases: () => Promise<boolean>,
): Promise<string> {
  const file = join(dataDirectory, "keys");
  const isWhole = (key: string) => /^[\w-]{1,32}:[A-Za-z0-9+/]{43}=$/.test(key);
  const kept = await readWhole(file, isWhole);
  if (kept !== null) return kept;
  if (await hasServiceDatabases()) {
    throw new Error(
      `${file} is missing or cut off, and secrets in the databases beside it open with no other key: ` +
        `put the file back from a copy, or move ${dataDirectory} away to start empty`,
    );
  }
  const made = `k1:${randomBytes(32).toString("base64")}`;
  await writeDurably(file, `${made}\n`);
  return made;
}

/** Returns true when an earlier start on this server came so far that a service could seal something. */
export async function hasServiceDatabases(url: string, parts: { log: Logger; metrics: Metrics }): Promise<boolean> {
  const pool = openPool({ ...parts, url, max: 1, applicationName: "signalbox-start", runner: { defer: () => {} } });
  try {
    const names = embeddedServices.map(({ name }) => databaseOf(name));
    return (await pool.query(findDatabases, [names])).rows.length > 0;
  } finally {
    await pool.close();
  }
}

const findDatabases = sql("", "select datname from pg_database where datname = any($1)");

interface FirstKeyOptions {
  readonly dataDirectory: string;
  /** Of the account service, which knows every key. */
  readonly authorize: ServiceParts["authorizeManagement"];
  readonly create: () => Promise<string>;
}

interface FirstKey {
  readonly apiKey: string;
  /** True when the kept key no longer works: revoked, expired, of another database, or of an account that may not act. */
  readonly replaced: boolean;
}

/** The administrator's key of this folder, made when there is none yet or the kept one no longer works. */
export async function keptFirstKey({ dataDirectory, authorize, create }: FirstKeyOptions): Promise<FirstKey> {
  const file = join(dataDirectory, "first-key");
  const kept = await readWhole(file, (text) => parseApiKey(text) !== null);
  // An outage says nothing about the key.
  const verdict = kept && (await authorize?.({ "x-api-key": kept }, "127.0.0.1").catch(() => undefined));
  if (kept && verdict !== "unauthorized" && verdict !== "forbidden") return { apiKey: kept, replaced: false };
  const apiKey = await create();
  await writeDurably(file, `${apiKey}\n`);
  return { apiKey, replaced: kept !== null };
}
