import type { Clock } from "@signalbox/core";
import { inTransaction, type ObjectFiles, type ObjectStore, type Pool, type Tx } from "@signalbox/storage";
import { type OriginalId, originalKey, renditionPrefix } from "./blob-keys.ts";
import type { Blob, BlobStore } from "./blob-store.ts";
import type { RenditionStore } from "./rendition-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly blobStore: BlobStore;
  readonly renditionStore: Pick<RenditionStore, "listStored" | "removeOf">;
  readonly objects: ObjectStore;
  readonly objectFiles: ObjectFiles;
  readonly clock: Clock;
  readonly graceMs: () => number;
}

/** The result of an erasure. */
export interface Erased {
  readonly objects: number;
  readonly bytes: number;
  /** True when another record of the account needs the bytes and nothing was erased. */
  readonly isKept: boolean;
}

export type Blobs = ReturnType<typeof createBlobs>;

const sweptTogether = 50;
const page = 500;
const nothing: Erased = { objects: 0, bytes: 0, isKept: false };

/** The bytes of originals: stored before any record needs them, erased when no record does. */
export function createBlobs(dependencies: Dependencies) {
  const { pool, blobStore, objectFiles, clock, graceMs } = dependencies;
  async function sweepBefore(before: Date, signal: AbortSignal): Promise<number> {
    let swept = 0;
    for (const original of await blobStore.listUnused(before, sweptTogether)) {
      if (signal.aborted) return swept;
      const isGone = await inTransaction(pool, async (tx) => {
        const blob = await blobStore.lock(tx, original);
        if (!blob || blob.isNeeded || blob.touchedAt >= before) return false;
        await eraseAll(dependencies, tx, original, blob.sizeBytes);
        return true;
      });
      if (isGone) swept++;
    }
    return swept;
  }

  return {
    /** Stores a file under its hash unless its bytes are there already. Its record is created afterwards. */
    async store(path: string, blob: Blob): Promise<void> {
      const { sha256, sizeBytes: size, mimeType: contentType } = blob;
      await blobStore.touch(blob, clock.now());
      await objectFiles.put(originalKey(blob), path, { size, contentType, ifAbsent: true, sha256 });
    },

    /** Removes some unused originals with all their renditions and returns their number. */
    sweep: (signal: AbortSignal): Promise<number> => sweepBefore(new Date(clock.nowMs() - graceMs()), signal),

    /** Removes originals that were released without a grace period: those of purged accounts. */
    sweepReleased: (signal: AbortSignal): Promise<number> => sweepBefore(new Date(1), signal),

    /**
     * Removes an original with all its renditions, unless a record needs it; bytes that were already removed count too.
     */
    async erase(tx: Tx, original: OriginalId): Promise<Erased> {
      const blob = await blobStore.lock(tx, original);
      if (blob?.isNeeded) return { ...nothing, isKept: true };
      return eraseAll(dependencies, tx, original, blob?.sizeBytes ?? null);
    },

    /** Removes renditions stored after their original was erased. */
    async removeStrays(tx: Tx, original: OriginalId): Promise<void> {
      if (!(await blobStore.lock(tx, original))) await eraseAll(dependencies, tx, original, null);
    },
  };
}

/**
 * Removes bytes before rows: after a crash between the two, the rows remain, the erasure starts again and counts the
 * bytes that were removed before the crash too.
 */
async function eraseAll(
  { objects, blobStore, renditionStore }: Dependencies,
  tx: Tx,
  original: OriginalId,
  sizeBytes: number | null,
): Promise<Erased> {
  const gone = new Map((await renditionStore.listStored(tx, original)).map(({ key, sizeBytes: size }) => [key, size]));
  if (sizeBytes !== null) gone.set(originalKey(original), sizeBytes);
  for await (const { key, size } of renditionsIn(objects, original)) gone.set(key, size);
  for (const key of gone.keys()) await objects.delete(key);
  await renditionStore.removeOf(tx, original);
  await blobStore.remove(tx, original);
  return { objects: gone.size, bytes: [...gone.values()].reduce((sum, size) => sum + size, 0), isKept: false };
}

async function* renditionsIn(objects: ObjectStore, original: OriginalId) {
  let after: string | null = null;
  do {
    const listed = await objects.list(renditionPrefix(original), { limit: page, ...(after === null ? {} : { after }) });
    yield* listed.objects;
    after = listed.next;
  } while (after !== null);
}
