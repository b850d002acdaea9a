import type { Dirent } from "node:fs";
import { readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { trueMs } from "@signalbox/core";
import type { StoredObject } from "./object-store.ts";

/**
 * Lists the files under `root` whose keys begin with `prefix` and follow `after`, in key order. A folder sorts as its
 * name and "/", because that is the place of its keys: `a-b`, `a/b`, `a0`.
 */
export async function* listFiles(root: string, prefix: string, after: string): AsyncGenerator<StoredObject> {
  yield* walk(root, prefix.slice(0, prefix.lastIndexOf("/") + 1), prefix, after);
}

async function* walk(root: string, folder: string, prefix: string, after: string): AsyncGenerator<StoredObject> {
  for (const name of await namesIn(join(root, folder))) {
    const key = folder + name;
    if (key.endsWith("/")) {
      const reaches = key.startsWith(prefix) || prefix.startsWith(key);
      const passed = key < after && !after.startsWith(key);
      if (reaches && !passed) yield* walk(root, key, prefix, after);
    } else if (key.startsWith(prefix) && key > after) {
      const found = await stat(join(root, key)).catch(() => null); // deleted during the listing
      if (found) yield { key, size: found.size, modifiedAt: new Date(trueMs(found.mtimeMs)) };
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const entries: Dirent[] = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
  const visible = entries.filter(({ name }) => !name.startsWith("."));
  return visible.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
}

/** Removes the files of `folder` that were last written before `beforeMs`. */
export async function removeOldFiles(folder: string, beforeMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null); // another process removes old files as well
    if (found && trueMs(found.mtimeMs) < beforeMs) await unlink(path).catch(() => {});
  }
}
