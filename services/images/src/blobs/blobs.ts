import { inTransaction, type ObjectStore, type Pool, type Tx } from "@signalbox/storage";
import { type OriginalId, originalKey, renditionPrefix } from "./blob-keys.ts";
import { listUnusedBlobs, lockBlob, removeBlob } from "./blob-store.ts";
import { listStoredRenditions, removeRenditionsOf } from "./rendition-store.ts";

/** The result of an erasure. */
export interface Erased {
  readonly objects: number;
  readonly bytes: number;
  /** True when another record of the account needs the bytes and nothing was erased. */
  readonly isKept: boolean;
}

const sweptTogether = 50;
const page = 500;

/** Blobs that were released without a grace period, those of purged accounts, were last needed before this. */
export const releasedBefore = new Date(1);

/** Removes some originals that no record has needed since `before`, with all their renditions; returns their number. */
export async function sweepBlobs(pool: Pool, objects: ObjectStore, before: Date, signal: AbortSignal): Promise<number> {
  let swept = 0;
  for (const original of await listUnusedBlobs(pool, before, sweptTogether)) {
    if (signal.aborted) return swept;
    const isGone = await inTransaction(pool, async (tx) => {
      const blob = await lockBlob(tx, original);
      if (!blob || blob.isNeeded || blob.touchedAt >= before) return false;
      await eraseAll(tx, objects, original, blob.sizeBytes);
      return true;
    });
    if (isGone) swept++;
  }
  return swept;
}

/**
 * Removes an original with all its renditions, unless a record needs it; bytes that were already removed count too.
 */
export async function eraseBlob(tx: Tx, objects: ObjectStore, original: OriginalId): Promise<Erased> {
  const blob = await lockBlob(tx, original);
  if (blob?.isNeeded) return { objects: 0, bytes: 0, isKept: true };
  return eraseAll(tx, objects, original, blob?.sizeBytes ?? null);
}

/** Removes renditions stored after their original was erased. */
export async function removeStrays(tx: Tx, objects: ObjectStore, original: OriginalId): Promise<void> {
  if (!(await lockBlob(tx, original))) await eraseAll(tx, objects, original, null);
}

/**
 * Removes bytes before rows: after a crash between the two, the rows remain, the erasure starts again and counts the
 * bytes that were removed before the crash too.
 */
async function eraseAll(tx: Tx, objects: ObjectStore, original: OriginalId, sizeBytes: number | null): Promise<Erased> {
  const gone = new Map((await listStoredRenditions(tx, original)).map(({ key, sizeBytes: size }) => [key, size]));
  if (sizeBytes !== null) gone.set(originalKey(original), sizeBytes);
  for await (const { key, size } of renditionsIn(objects, original)) gone.set(key, size);
  for (const key of gone.keys()) await objects.delete(key);
  await removeRenditionsOf(tx, original);
  await removeBlob(tx, original);
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
