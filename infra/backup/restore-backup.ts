import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { minutes, type ServiceName } from "@signalbox/core";
import { libraryMigrations } from "@signalbox/service";
import { migrate, type Pool, sql } from "@signalbox/storage";
import { type DatabaseRestore, openDatabaseRestore } from "@signalbox/storage/restore-database";
import { commandTelemetry } from "../kafka/engine-url.ts";
import { BackupDamaged, type BackupFile, type BackupFolder } from "./backup-folder.ts";
import { openBackupPool } from "./backup-records.ts";
import { readBlobList, requireNoOthers, restoreBlobs } from "./copy-blobs.ts";
import { publishRecords } from "./log-records.ts";
import { type BackedUpDatabase, type Manifest, readManifest } from "./manifest.ts";
import type { Engines, OwnedDatabase } from "./open-engines.ts";

/** Rows that a migration writes into an empty database: the backup has their later versions. */
const written = ["public.revision_counter"];

/** Reads the whole backup and verifies it. @throws BackupDamaged */
export async function verifyBackup(folder: BackupFolder) {
  const manifest = await readManifest(folder);
  const tables = manifest.databases.flatMap((database) => database.tables.map(({ file }) => file));
  for (const file of [...tables, manifest.records.file]) await folder.verify(file);
  const blobs = await readBlobList(folder, manifest.blobs.file);
  for (const file of blobs.values()) await folder.verify(file);
  return { manifest, blobs };
}

/**
 * Restores a backup into empty engines. The databases become visible together, after everything else but the log, whose
 * events must not be read before their records: a killed restore leaves databases that are still empty.
 */
export async function restoreBackup(
  { databases, eventLog, specs, objects }: Engines,
  folder: BackupFolder,
): Promise<Manifest> {
  const { manifest, blobs } = await verifyBackup(folder);
  await requireNoOthers(objects, blobs);
  const [problem] = await eventLog.ensureTopics(specs);
  if (problem) throw new Error(`the event log has the wrong settings: ${problem.topic}: ${problem.problem}`);
  const topics = specs.map(({ name }) => name);
  const used = (await rangesOf(eventLog, topics)).find(({ end }) => end > 0n);
  if (used) throw new Error(`the event log is not empty: delete the topics; ${used.topic} has had records`);

  const opened: DatabaseRestore[] = [];
  try {
    for (const database of databases) opened.push(await openEmptyDatabase(database, manifest));
    await Promise.all(
      databases.map(({ service }, index) =>
        loadRows(folder, opened[index] as DatabaseRestore, databaseOf(manifest, service)),
      ),
    );
    await restoreBlobs(folder, objects, blobs);
    for (const database of opened) await database.commit();
  } finally {
    await Promise.all(opened.map((database) => database.close()));
  }
  await publishRecords(eventLog, await folder.readCompressed(manifest.records.file));
  return manifest;
}

const triesMax = 40;
const pauseMs = 250;

/** Newly created topics have no leader yet. */
async function rangesOf(eventLog: Engines["eventLog"], topics: readonly string[]) {
  for (let tries = 1; ; tries++) {
    try {
      return await eventLog.ranges(topics);
    } catch (error) {
      if (tries === triesMax || !(error as { readonly retriable?: boolean }).retriable) throw error;
      await sleep(pauseMs);
    }
  }
}

function databaseOf({ databases }: Manifest, service: string): BackedUpDatabase {
  const found = databases.find((one) => one.service === service);
  if (found === undefined) throw new Error(`the backup has no database of ${service}`);
  return found;
}

/** Migrates an empty database to this version and opens it for the rows of a backup. */
async function openEmptyDatabase({ service, url }: OwnedDatabase, manifest: Manifest): Promise<DatabaseRestore> {
  const backup = databaseOf(manifest, service);
  await migrate({
    url,
    service,
    prismaDirectory: join(import.meta.dirname, "../../services", service, "prisma"),
    libraryMigrations,
    log: commandTelemetry().log,
  });
  const database = await openDatabaseRestore(url);
  try {
    const filled = (await database.filled()).filter((name) => !written.includes(name));
    if (filled.length > 0) throw new Error(`the database of ${service} is not empty: ${filled.join(", ")}`);
    const { migrations } = await database.describe();
    const differing = migrations.find((one) => !backup.migrations.includes(one));
    const lacking = backup.migrations.find((one) => !migrations.includes(one));
    const name = (lacking ?? differing)?.split(" ")[0];
    if (name !== undefined)
      throw new Error(
        `the backup of ${service} is of another version, which differs in the migration ${name}: restore it with the ` +
          "version that took it, then start the newer one",
      );
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Loads the rows of a backup, as many as its manifest says. */
async function loadRows(folder: BackupFolder, database: DatabaseRestore, backup: BackedUpDatabase): Promise<void> {
  const files = new Map(backup.tables.map(({ name, file }) => [name, file]));
  await database.load(backup, ({ name }) => folder.readCompressed(files.get(name) as BackupFile));
}

/** Databases of a check that was killed have this name too, and are dropped by the next one. */
const prefix = "signalbox_backup_check_";

/**
 * Restores the databases of a backup, one after the other, into databases that it makes on a scratch server and drops
 * again, and reads all its events. @throws BackupDamaged, or what PostgreSQL refuses
 */
export async function checkByRestoring(folder: BackupFolder, manifest: Manifest, scratchUrl: string): Promise<void> {
  const server = openBackupPool(scratchUrl, { statementTimeoutMs: minutes(5) });
  try {
    await dropLeftovers(server);
    for (const { service } of manifest.databases) await restoreInto(server, scratchUrl, { folder, manifest, service });
  } finally {
    await server.close();
  }
  await checkRecords(folder, manifest);
}

interface Restored {
  readonly folder: BackupFolder;
  readonly manifest: Manifest;
  readonly service: ServiceName;
}

async function restoreInto(server: Pool, scratchUrl: string, { folder, manifest, service }: Restored): Promise<void> {
  const name = prefix + service.replaceAll("-", "_");
  await server.query(sql("", `create database ${name} template template0`));
  await server.query(sql("", `revoke all on database ${name} from public`));
  try {
    const url = Object.assign(new URL(scratchUrl), { pathname: `/${name}` }).href;
    const database = await openEmptyDatabase({ service, url }, manifest);
    try {
      await loadRows(folder, database, databaseOf(manifest, service));
      await database.commit();
    } finally {
      await database.close();
    }
  } finally {
    await server.query(sql("", `drop database ${name} with (force)`));
  }
}

async function dropLeftovers(server: Pool): Promise<void> {
  const list = sql("", "select datname as name from pg_database where starts_with(datname, $1)");
  for (const { name } of (await server.query<{ name: string }>(list, [prefix])).rows)
    await server.query(sql("", `drop database if exists ${name} with (force)`));
}

async function checkRecords(folder: BackupFolder, { records }: Manifest): Promise<void> {
  let count = 0;
  const input = await folder.readCompressed(records.file);
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    const { topic } = JSON.parse(line) as { readonly topic?: unknown };
    if (typeof topic === "string") count++;
  }
  if (count !== records.count)
    throw new BackupDamaged(`${folder.path} has ${count} events instead of ${records.count}`);
}
