import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { BackupResource } from "@signalbox/contracts";
import { type Clock, MiB } from "@signalbox/core";
import { z } from "zod";

type Backup = z.output<typeof BackupResource>;

interface Dependencies {
  /** `operations.backups-folder`; null where the deployment names none. */
  readonly folder: () => string | null;
  readonly clock: Clock;
}

const Manifest = z.object({ format: z.literal(1), takenAt: z.iso.datetime(), release: z.string() });
const Verification = z.object({ verifiedAt: z.iso.datetime() });

/** Newest backups that a list shows, and folders that it looks into. */
const shownMax = 50;
const foldersMax = 1_000;
const fileBytesMax = 4 * MiB;

export type Backups = ReturnType<typeof createBackups>;

/** Creates the list of the backups in the folder that the deployment names: each folder in it with a manifest. */
export function createBackups({ folder, clock }: Dependencies) {
  async function read(root: string, name: string): Promise<Backup | null> {
    const manifest = await readJson(join(root, name, "manifest.json"), Manifest);
    if (manifest === null) return null; // ended on its way, or no backup
    const verification = await readJson(join(root, name, "verified.json"), Verification);
    return {
      name,
      taken_at: new Date(manifest.takenAt).toISOString(),
      age_seconds: Math.max(0, Math.round((clock.nowMs() - Date.parse(manifest.takenAt)) / 1000)),
      release: manifest.release,
      verified_at: verification && new Date(verification.verifiedAt).toISOString(),
    };
  }

  return {
    /** Lists the newest backups first; none are known where no folder is named or it cannot be read. */
    async list(): Promise<{ readonly items: readonly Backup[]; readonly is_watched: boolean }> {
      const root = folder();
      const entries = root === null ? null : await readdir(root, { withFileTypes: true }).catch(() => null);
      if (root === null || entries === null) return { items: [], is_watched: false };
      const folders = entries.filter((entry) => entry.isDirectory()).slice(0, foldersMax);
      const found = await Promise.all(folders.map(({ name }) => read(root, name)));
      const backups = found.filter((backup) => backup !== null);
      const items = backups.toSorted((a, b) => b.taken_at.localeCompare(a.taken_at)).slice(0, shownMax);
      return { items, is_watched: true };
    },
  };
}

/** Reads a file of a backup; null when it is missing, too large or of another form. */
async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
  const file = await open(path).catch(() => null);
  if (file === null) return null;
  try {
    if ((await file.stat()).size > fileBytesMax) return null;
    return schema.safeParse(JSON.parse(await file.readFile("utf8"))).data ?? null;
  } catch {
    return null;
  } finally {
    await file.close();
  }
}
