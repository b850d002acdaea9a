import { mkdir, readdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceName } from "@signalbox/core";
import type { DatabaseSnapshot } from "@signalbox/storage/database-snapshot";
import type { BackupFolder } from "./backup-folder.ts";
import { type CommonPoint, findCommonPoint } from "./common-point.ts";
import { BlobCopies, type FormerBlobs } from "./copy-blobs.ts";
import { findBeginnings, writeRecords } from "./log-records.ts";
import { type BackedUpDatabase, type Manifest, writeManifest } from "./manifest.ts";
import type { Engines } from "./open-engines.ts";

/** Number of attempts: originals deleted meanwhile disappear from the records a moment later too. */
const looksMax = 10;
const pauseMs = 500;

/** The keys of all blobs in the records (services/images, `originalKey`). Renditions can be made again. */
const namedBlobs = "select 'originals/' || account_id || '/' || sha256 from originals";

export interface TakenBackup extends Manifest {
  readonly heldMs: number;
  /** Blobs that are in the records and missing in the store. */
  readonly missing: readonly string[];
}

/**
 * Takes a backup of one moment. Most blobs are copied before it and the newest after it: a record is created after its
 * bytes, so they exist at any moment.
 */
export async function takeBackup(
  engines: Engines,
  folder: BackupFolder,
  { release, former = null }: { readonly release: string; readonly former?: FormerBlobs | null },
): Promise<TakenBackup> {
  await makeFolder(folder);
  const { databases, eventLog, specs, objects } = engines;
  const blobs = new BlobCopies(objects, folder, former);
  await blobs.copyNew();
  const beginnings = await findBeginnings(eventLog, specs);
  const { point, missing } = await findWholePoint(engines, blobs);
  try {
    const copies = databases.map(({ service }) => copyDatabase(folder, service, snapshotOf(point, service)));
    const copied = await Promise.all(copies);
    const records = await folder.writeCompressed("records.jsonl.zst", (target) =>
      writeRecords(eventLog, beginnings, point.ends, target),
    );
    const manifest: Manifest = {
      format: 2,
      takenAt: point.takenAt.toISOString(),
      release,
      encryptedFor: folder.keys.recipients,
      databases: copied,
      records: { file: records.file, count: records.result },
      blobs: await blobs.writeList(),
    };
    await writeManifest(folder, manifest);
    return { ...manifest, heldMs: point.heldMs, missing };
  } finally {
    await point.close();
  }
}

/** Creates the folder, readable by this user only: it contains the databases' content. */
async function makeFolder({ path }: BackupFolder): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  if ((await readdir(path)).length > 0) throw new Error(`${path} is not empty: give each backup a folder of its own`);
}

/** Finds a common point at which every original of a record is copied. */
async function findWholePoint(
  { databases, eventLog, specs }: Engines,
  blobs: BlobCopies,
): Promise<{ readonly point: CommonPoint; readonly missing: readonly string[] }> {
  const topics = specs.map(({ name }) => name);
  for (let looks = 1; ; looks++) {
    const point = await findCommonPoint(databases, eventLog, topics);
    try {
      await blobs.copyNew();
      const named = await snapshotOf(point, "images").texts(namedBlobs);
      const missing = named.filter((key) => !blobs.has(key));
      if (missing.length === 0 || looks === looksMax) return { point, missing };
    } catch (error) {
      await point.close();
      throw error;
    }
    await point.close();
    await sleep(pauseMs);
  }
}

function snapshotOf({ snapshots }: CommonPoint, service: string): DatabaseSnapshot {
  const snapshot = snapshots.get(service);
  if (!snapshot) throw new Error(`${service} has no database`);
  return snapshot;
}

async function copyDatabase(
  folder: BackupFolder,
  service: ServiceName,
  snapshot: DatabaseSnapshot,
): Promise<BackedUpDatabase> {
  const { tables, ...description } = await snapshot.describe();
  const copied: BackedUpDatabase["tables"][number][] = [];
  for (const table of tables) {
    const path = `databases/${service}/${table.name.replaceAll(/[^\w.-]/g, "_")}.zst`;
    const { file, result } = await folder.writeCompressed(path, (target) => snapshot.copyTable(table, target));
    copied.push({ ...table, rows: result, file });
  }
  return { service, ...description, tables: copied };
}
