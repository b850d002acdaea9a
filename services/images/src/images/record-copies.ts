import { seconds } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import { LRUCache } from "lru-cache";
import type { Image } from "./image.ts";

/** Shorter than anybody could notice, and long enough for an image that thousands ask for to be read once a second. */
const keptMs = seconds(1);
const keptMax = 10_000;

/**
 * Records that were read a moment ago. A copy learns of a change in this process when it is committed, and of one in another
 * instance by its age.
 */
export class RecordCopies {
  readonly #read: (imageId: string) => Promise<Image | null>;
  /** Reads, not records: one that began before a change and ends after it is not put back. */
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

  /** Forgets records that a transaction changes, when its change can be read. */
  forgetAfter(tx: Pick<Tx, "afterCommit">, imageIds: readonly string[]): void {
    tx.afterCommit(() => {
      for (const imageId of imageIds) this.#copies.delete(imageId);
    });
  }
}
