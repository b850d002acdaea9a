import type { Clock } from "@signalbox/core";
import { inTransaction, type ObjectStore, type Pool } from "@signalbox/storage";
import { originalKey, renditionPrefix } from "./blob-keys.ts";
import type { BlobStore } from "./blob-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly blobs: BlobStore;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly graceMs: () => number;
}

const batch = 50;
const page = 500;

/** Removes originals, with all their renditions, that no record has needed for the grace. Answers how many. */
export function createSweepBlobs({ pool, blobs, objects, clock, graceMs }: Dependencies) {
  return async function sweepBlobs(signal: AbortSignal): Promise<number> {
    const before = new Date(clock.nowMs() - graceMs());
    let swept = 0;
    for (const sha256 of await blobs.listUnused(before, batch)) {
      if (signal.aborted) return swept;
      const gone = await inTransaction(pool, async (tx) => {
        if (!(await blobs.lockUnused(tx, sha256, before))) return false;
        await removeRenditions(sha256);
        await objects.delete(originalKey(sha256));
        await blobs.delete(tx, sha256);
        return true;
      });
      if (gone) swept++;
    }
    return swept;
  };

  async function removeRenditions(sha256: string): Promise<void> {
    let after: string | null = null;
    do {
      const listed = await objects.list(renditionPrefix(sha256), { limit: page, ...(after === null ? {} : { after }) });
      for (const { key } of listed.objects) await objects.delete(key);
      after = listed.next;
    } while (after !== null);
  }
}

export type SweepBlobs = ReturnType<typeof createSweepBlobs>;
