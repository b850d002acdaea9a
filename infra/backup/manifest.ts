import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ServiceName } from "@signalbox/core";
import type { DatabaseDescription } from "@signalbox/storage/describe-database";
import type { BackedUpTable } from "@signalbox/storage/restore-database";
import { readJson, writeDurably } from "../engines/durable-file.ts";
import { BackupDamaged, type BackupFile, type BackupFolder } from "./backup-folder.ts";

export interface BackedUpDatabase extends Omit<DatabaseDescription, "tables"> {
  readonly service: ServiceName;
  readonly tables: readonly (BackedUpTable & { readonly file: BackupFile })[];
}

/** The contents of a backup. Written last: without it, a backup is incomplete. */
export interface Manifest {
  readonly format: 2;
  /** The time of all parts. */
  readonly takenAt: string;
  readonly release: string;
  /** The recipients of its files; none when they are not encrypted. The manifest itself is not. */
  readonly encryptedFor: readonly string[];
  readonly databases: readonly BackedUpDatabase[];
  readonly records: { readonly file: BackupFile; readonly count: number };
  /** A list with a line for each blob: SHA-256 and size of its file, the same of its bytes, its path and its key. */
  readonly blobs: { readonly file: BackupFile; readonly count: number; readonly bytes: number };
}

const fileName = "manifest.json";

/** Writes the manifest, which marks the backup as complete. */
export async function writeManifest(folder: BackupFolder, manifest: Manifest): Promise<void> {
  await writeDurably(join(folder.path, fileName), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Reads the manifest. @throws BackupDamaged */
export async function readManifest({ path }: BackupFolder): Promise<Manifest> {
  if (!existsSync(join(path, fileName)))
    throw new BackupDamaged(`${path} is not a complete backup: ${fileName}, which is written last, is missing`);
  const manifest = await readJson<Manifest>(join(path, fileName));
  if (manifest?.format !== 2) throw new BackupDamaged(`${join(path, fileName)} is damaged, or of an unknown version`);
  return manifest;
}
