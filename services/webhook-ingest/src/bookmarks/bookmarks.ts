import type { Caller } from "@signalbox/auth";
import { type Clock, MiB, newId } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { StoredDelivery } from "../receiving/received-store.ts";
import type { Bookmark, BookmarkStore, StoredBookmark } from "./bookmark-store.ts";

interface Dependencies {
  readonly bookmarkStore: BookmarkStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** Largest number of bookmarks of one account. */
  readonly bookmarksMax: () => number;
}

/** Largest sum of the bodies of an account's bookmarks. */
const bytesMax = 16 * MiB;

export type Bookmarks = ReturnType<typeof createBookmarks>;

/** Creates the operations on bookmarks: keep a received webhook under a name, and delete it. */
export function createBookmarks({ bookmarkStore, outbox, clock, bookmarksMax }: Dependencies) {
  return {
    list: bookmarkStore.list,
    find: bookmarkStore.find,
    lock: bookmarkStore.lock,

    /** Copies a received webhook into a bookmark. The same webhook may have several. */
    async create(tx: Tx, caller: Caller, received: StoredDelivery, name: string) {
      const { accountId } = caller;
      const { count, bytes, isTaken } = await bookmarkStore.lockUsage(tx, accountId, name);
      if (isTaken) return { outcome: "name-taken" } as const;
      const max = bookmarksMax();
      if (count >= max) return { outcome: "limit-reached", max } as const;
      if (bytes + received.body.length > bytesMax) return { outcome: "bytes-reached" } as const;
      const bookmark = bookmarkOf(received, { accountId, name, createdAt: clock.now() });
      await bookmarkStore.insert(tx, bookmark);
      await outbox.append(tx, [audited(caller, { action: "webhook_source.bookmark", subject: bookmark.sourceId })]);
      return { outcome: "created", bookmark } as const;
    },

    /** Deletes a bookmark; the received webhook stays. */
    async delete(tx: Tx, caller: Caller, { id, sourceId }: Bookmark): Promise<void> {
      await bookmarkStore.remove(tx, id);
      await outbox.append(tx, [audited(caller, { action: "webhook_source.delete_bookmark", subject: sourceId })]);
    },
  };
}

function bookmarkOf(
  received: StoredDelivery,
  { accountId, name, createdAt }: Pick<Bookmark, "accountId" | "name" | "createdAt">,
): StoredBookmark {
  const { id: receivedId, sourceId, deliveryId, eventType, contentType, headers, body, receivedAt } = received;
  return {
    id: newId("bmk", createdAt.getTime()),
    accountId,
    sourceId,
    name,
    receivedId,
    deliveryId,
    eventType,
    contentType,
    bodyBytes: body.length,
    headers,
    body,
    receivedAt,
    createdAt,
  };
}
