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

/** What a backup consists of. It is written last: without it, a backup is not whole. */
export interface Manifest {
  readonly format: 1;
  /** The moment that all parts show. */
  readonly takenAt: string;
  readonly release: string;
  readonly databases: readonly BackedUpDatabase[];
  readonly records: { readonly file: BackupFile; readonly count: number };
  /** A list with a line for each blob: its SHA-256, its size and its key. */
  readonly blobs: { readonly file: BackupFile; readonly count: number; readonly bytes: number };
}

const fileName = "manifest.json";

/** Says that everything else is there. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await writeDurably(join(folder, fileName), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** @throws BackupDamaged */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, fileName), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw new BackupDamaged(`${folder} is no whole backup: ${fileName} is missing, which is written last`);
  });
  const manifest = parse(text);
  if (manifest?.format !== 1)
    throw new BackupDamaged(`${join(folder, fileName)} is damaged, or of a version that is not known here`);
  return manifest;
}

function parse(text: string): Manifest | null {
  try {
    return JSON.parse(text) as Manifest;
  } catch {
    return null;
  }
}
