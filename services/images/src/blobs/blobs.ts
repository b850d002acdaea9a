import type { Clock } from "@signalbox/core";
import { inTransaction, type ObjectFiles, type ObjectStore, type Pool } from "@signalbox/storage";
import { originalKey, renditionPrefix } from "./blob-keys.ts";
import type { Blob, BlobStore } from "./blob-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly blobStore: BlobStore;
  readonly objects: ObjectStore;
  readonly objectFiles: ObjectFiles;
  readonly clock: Clock;
  readonly graceMs: () => number;
}

export type Blobs = ReturnType<typeof createBlobs>;

const sweptTogether = 50;
const page = 500;

/** The bytes of originals: stored before any record needs them, swept when none has needed them for the grace. */
export function createBlobs({ pool, blobStore, objects, objectFiles, clock, graceMs }: Dependencies) {
  return {
    /** Takes a file into the store under its hash, unless its bytes are there. The record that needs them comes after this. */
    async store(path: string, blob: Blob): Promise<void> {
      const { sha256, sizeBytes: size, mimeType: contentType } = blob;
      await blobStore.touch(blob, clock.now());
      await objectFiles.put(originalKey(sha256), path, { size, contentType, ifAbsent: true, sha256 });
    },

    /** Removes some unused originals with all their renditions, and tells how many. */
    async sweep(signal: AbortSignal): Promise<number> {
      const before = new Date(clock.nowMs() - graceMs());
      let swept = 0;
      for (const sha256 of await blobStore.listUnused(before, sweptTogether)) {
        if (signal.aborted) return swept;
        const isGone = await inTransaction(pool, async (tx) => {
          if (!(await blobStore.lockUnused(tx, sha256, before))) return false;
          await removeRenditions(objects, sha256);
          await objects.delete(originalKey(sha256));
          await blobStore.remove(tx, sha256);
          return true;
        });
        if (isGone) swept++;
      }
      return swept;
    },
  };
}

async function removeRenditions(objects: ObjectStore, sha256: string): Promise<void> {
  let after: string | null = null;
  do {
    const listed = await objects.list(renditionPrefix(sha256), { limit: page, ...(after === null ? {} : { after }) });
    for (const { key } of listed.objects) await objects.delete(key);
    after = listed.next;
  } while (after !== null);
}
