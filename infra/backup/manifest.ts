import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseDescription } from "@signalbox/storage/describe-database";
import type { BackedUpTable } from "@signalbox/storage/restore-database";
import { writeDurably } from "../engines/durable-file.ts";
import { BackupDamaged, type BackupFile } from "./backup-files.ts";

/** A database of a backup. */
export interface BackedUpDatabase extends Omit<DatabaseDescription, "tables"> {
  readonly service: string;
  readonly tables: readonly (BackedUpTable & { readonly file: BackupFile })[];
}

/** The contents of a backup. Written last: without it, a backup is incomplete. */
export interface Manifest {
  readonly format: 1;
  /** The time of all parts. */
  readonly takenAt: string;
  readonly release: string;
  readonly databases: readonly BackedUpDatabase[];
  readonly records: { readonly file: BackupFile; readonly count: number };
  /** A list with a line for each blob: its SHA-256, its size and its key. */
  readonly blobs: { readonly file: BackupFile; readonly count: number; readonly bytes: number };
}

const fileName = "manifest.json";

/** Notes beside the manifest that the backup was found whole, for the list of backups. */
export async function noteVerification(folder: string, at: Date): Promise<void> {
  await writeDurably(join(folder, "verified.json"), `${JSON.stringify({ verifiedAt: at.toISOString() })}\n`);
}

/** Writes the manifest, which marks the backup as complete. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await writeDurably(join(folder, fileName), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Reads the manifest. @throws BackupDamaged */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, fileName), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw new BackupDamaged(`${folder} is not a complete backup: ${fileName}, which is written last, is missing`);
  });
  const manifest = parse(text);
  if (manifest?.format !== 1) throw new BackupDamaged(`${join(folder, fileName)} is damaged, or of an unknown version`);
  return manifest;
}

function parse(text: string): Manifest | null {
  try {
    return JSON.parse(text) as Manifest;
  } catch {
    return null;
  }
}
