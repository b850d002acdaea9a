import { seconds } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import { LRUCache } from "lru-cache";
import type { Image } from "./image.ts";

/** Too short to be noticed, and long enough for a popular image to be read once a second. */
const keptMs = seconds(1);
const keptMax = 10_000;

/**
 * Cache of recently read records. A change in this process removes the copy at its commit; a change in another instance
 * is seen when the copy expires.
 */
export class RecordCopies {
  readonly #read: (imageId: string) => Promise<Image | null>;
  /** Caches reads, not records: a read that started before a change and ends after it is not put back. */
  readonly #copies = new LRUCache<string, Promise<Image | null>>({ max: keptMax, ttl: keptMs });

  constructor(read: (imageId: string) => Promise<Image | null>) {
    this.#read = read;
  }

  find(imageId: string): Promise<Image | null> {
    const copy = this.#copies.get(imageId);
    if (copy) return copy;
    const read = this.#read(imageId);
    this.#copies.set(imageId, read);
    const forgetThis = () => {
      if (this.#copies.peek(imageId) === read) this.#copies.delete(imageId);
    };
    read.then((image) => image ?? forgetThis(), forgetThis);
    return read;
  }

  /** Removes the copies of changed records after the transaction's commit. */
  forgetAfter(tx: Pick<Tx, "afterCommit">, imageIds: readonly string[]): void {
    tx.afterCommit(() => {
      for (const imageId of imageIds) this.#copies.delete(imageId);
    });
  }
}
