import { createInterface } from "node:readline";
import { minutes, type ServiceName } from "@signalbox/core";
import { openPool, type Pool, sql } from "@signalbox/storage";
import { commandTelemetry } from "../kafka/engine-url.ts";
import { BackupDamaged, type BackupFolder } from "./backup-folder.ts";
import type { Manifest } from "./manifest.ts";
import { databaseOf, loadRows, openEmptyDatabase } from "./restore-backup.ts";

/** Databases of a check that was killed have this name too, and are dropped by the next one. */
const prefix = "signalbox_backup_check_";

/**
 * Restores the databases of a backup, one after the other, into databases that it makes on a scratch server and drops
 * again, and reads all its events. @throws BackupDamaged, or what PostgreSQL refuses
 */
export async function checkByRestoring(folder: BackupFolder, manifest: Manifest, scratchUrl: string): Promise<void> {
  const server = openPool({
    url: scratchUrl,
    max: 1,
    applicationName: "signalbox backup",
    statementTimeoutMs: minutes(5),
    ...commandTelemetry(),
    runner: { defer: () => {} },
  });
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
