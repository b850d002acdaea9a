import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { minutes, systemClock } from "@signalbox/core";
import type { Configuration } from "@signalbox/runtime";
import { dayMs } from "@signalbox/storage";
import { BackupDamaged, BackupFolder, type BackupKeys } from "./backup-folder.ts";
import type { backupProperties } from "./backup-properties.ts";
import { type BackupRecords, type Check, openBackupRecords } from "./backup-records.ts";
import { type FormerBlobs, readBlobList } from "./copy-blobs.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import type { Engines } from "./open-engines.ts";
import { checkByRestoring, verifyBackup } from "./restore-backup.ts";
import { takeBackup } from "./take-backup.ts";

type BackupSettings = Configuration<typeof backupProperties>;

/** The folders that a schedule makes and removes; others in the same place are none of its business. */
const ownName = /^\d{4}-\d{2}-\d{2}T\d{6}Z$/;
const nameAt = (at: Date): string => `${at.toISOString().slice(0, 19).replaceAll(":", "")}Z`;
const msOfName = (name: string): number => Date.parse(name.replace(/T(\d{2})(\d{2})(\d{2})Z$/, "T$1:$2:$3Z"));

export const keysOf = (settings: BackupSettings): BackupKeys => ({
  recipients: settings.get("backup.recipients"),
  identities: settings.get("backup.identities"),
});

/** The pause before the next backup: what is left of the interval, and after a failed one a minute at most. */
export function pauseAfter(isTaken: boolean, intervalMs: number, tookMs: number): number {
  const whole = Math.max(0, intervalMs - tookMs);
  return isTaken ? whole : Math.min(whole, minutes(1));
}

/**
 * Takes a backup into a folder of its own below `root`, checks it, and removes those that are too old. One that is found
 * damaged stays for a look, is not counted as whole, and fails the run.
 */
export async function runBackup(
  engines: Engines,
  root: string,
  { settings, release }: { readonly settings: BackupSettings; readonly release: string },
) {
  const config = engines.databases.find(({ service }) => service === "config");
  if (config === undefined) throw new Error("config has no database");
  const records = openBackupRecords(config);
  try {
    await removeUnfinished(root);
    const name = nameAt(systemClock.now());
    const folder = new BackupFolder(join(root, name), keysOf(settings));
    const former = await findFormer(root, folder, records);
    let taken = await takeBackup(engines, folder, { release, former });
    await records.add(name, taken, sizeOf(taken));
    const check = await checkBackup(folder, settings).catch(async (error: Error) => {
      if (!(error instanceof BackupDamaged) || former === null) throw error;
      // A file that it shares with the former one has rotted on the disk: this time everything is copied.
      await rm(folder.path, { recursive: true });
      taken = await takeBackup(engines, folder, { release });
      await records.add(name, taken, sizeOf(taken));
      return checkBackup(folder, settings);
    });
    await records.noteCheck(name, check);
    return { folder, taken, check, removed: await removeExpired(root, records, settings) };
  } finally {
    await records.close();
  }
}

/** Verifies all checksums, and restores the databases where a scratch server is named. @throws BackupDamaged */
export async function checkBackup(
  folder: BackupFolder,
  settings: BackupSettings,
): Promise<Check & { readonly manifest: Manifest }> {
  const { manifest } = await verifyBackup(folder);
  const verifiedAt = systemClock.now();
  const scratchUrl = settings.get("backup.scratch-url");
  if (scratchUrl === null) return { manifest, verifiedAt, restoredAt: null };
  await checkByRestoring(folder, manifest, scratchUrl);
  return { manifest, verifiedAt, restoredAt: systemClock.now() };
}

/** Counts the bytes of a backup; a blob that it shares with another counts for each. */
const sizeOf = ({ databases, records, blobs }: Manifest): number =>
  [records, blobs, ...databases.flatMap(({ tables }) => tables)].reduce(
    (sum, { file }) => sum + file.bytes,
    blobs.bytes,
  );

const ownFolders = async (root: string): Promise<string[]> =>
  (await readdir(root).catch(() => [])).filter((name) => ownName.test(name)).toSorted();

/** Removes what a killed run has left: a backup without its manifest, once no run can be at work on it. */
async function removeUnfinished(root: string): Promise<void> {
  for (const name of await ownFolders(root)) {
    if (systemClock.nowMs() - msOfName(name) < dayMs) continue;
    const isWhole = await readManifest(openFolder(root, name)).catch(() => null);
    if (isWhole === null) await rm(join(root, name), { recursive: true });
  }
}

/** Finds the newest backup that was found whole and whose files this one can share. */
async function findFormer(root: string, folder: BackupFolder, records: BackupRecords): Promise<FormerBlobs | null> {
  const verified = await records.verified();
  const name = (await ownFolders(root)).findLast((one) => verified.has(one));
  if (name === undefined) return null;
  const former = new BackupFolder(join(root, name), folder.keys);
  try {
    const manifest = await readManifest(former);
    if (manifest.encryptedFor.join() !== folder.keys.recipients.join()) return null;
    return { folder: former, files: await readBlobList(former, manifest.blobs.file) };
  } catch {
    return null; // damaged, or encrypted for an identity that is not here: everything is copied
  }
}

async function removeExpired(root: string, records: BackupRecords, settings: BackupSettings): Promise<string[]> {
  const verified = await records.verified();
  const kept: string[] = [];
  for (const name of await ownFolders(root))
    if (await readManifest(openFolder(root, name)).catch(() => null)) kept.push(name);
  const backups = kept.map((name) => ({ name, takenAtMs: msOfName(name), isVerified: verified.has(name) }));
  const retention = { keepLast: settings.get("backup.keep-last"), keepDays: settings.get("backup.keep-days") };
  const expired = expiredBackups(backups, retention, systemClock.nowMs());
  for (const name of expired) {
    await records.remove(name);
    // The manifest first: a removal that is cut off leaves an unfinished backup, not a damaged one.
    await rm(join(root, name, "manifest.json"));
    await rm(join(root, name), { recursive: true });
  }
  return expired;
}

const openFolder = (root: string, name: string) =>
  new BackupFolder(join(root, name), { recipients: [], identities: [] });

interface KeptBackup {
  readonly name: string;
  readonly takenAtMs: number;
  readonly isVerified: boolean;
}

interface Retention {
  /** Number of the newest that stay. */
  readonly keepLast: number;
  /** Number of days, in UTC, of which the newest stays. */
  readonly keepDays: number;
}

/** Names the backups to remove. The newest that was found whole always stays. */
export function expiredBackups(
  backups: readonly KeptBackup[],
  { keepLast, keepDays }: Retention,
  nowMs: number,
): string[] {
  const newestFirst = backups.toSorted((one, other) => other.takenAtMs - one.takenAtMs);
  const dayOf = (ms: number): number => Math.floor(ms / dayMs);
  const newestOfDay = new Map(newestFirst.toReversed().map(({ name, takenAtMs }) => [dayOf(takenAtMs), name]));
  const oldestDay = dayOf(nowMs) - keepDays;
  const isKept = ({ name, takenAtMs }: KeptBackup, place: number): boolean =>
    place < keepLast || (dayOf(takenAtMs) > oldestDay && newestOfDay.get(dayOf(takenAtMs)) === name);
  const lastWhole = newestFirst.find(({ isVerified }) => isVerified)?.name;
  return newestFirst
    .filter((backup, place) => !isKept(backup, place) && backup.name !== lastWhole)
    .map(({ name }) => name);
}
