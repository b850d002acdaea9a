import type { Caller } from "@signalbox/auth";
import { MiB, newId } from "@signalbox/core";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { IngestService } from "../context/ingest-service.ts";
import type { StoredWebhookInFull } from "../received/received-store.ts";
import {
  type Bookmark,
  insertBookmark,
  lockBookmarkUsage,
  removeBookmark,
  type StoredBookmark,
} from "./bookmark-store.ts";

/** Largest sum of the bodies of an account's bookmarks. */
const bytesMax = 16 * MiB;

/** Copies a received webhook into a bookmark. The same webhook may have several. */
export async function createBookmark(
  service: IngestService,
  tx: Tx,
  caller: Caller,
  received: StoredWebhookInFull,
  name: string,
) {
  const { outbox, clock, configuration } = service;
  const { accountId } = caller;
  const { count, bytes, isTaken } = await lockBookmarkUsage(tx, accountId, name);
  if (isTaken) return { outcome: "name-taken" } as const;
  const max = configuration.get("webhook-ingest.bookmarks.max");
  if (count >= max) return { outcome: "limit-reached", max } as const;
  if (bytes + received.body.length > bytesMax) return { outcome: "bytes-reached" } as const;
  const bookmark = bookmarkOf(received, { accountId, name, createdAt: clock.now() });
  await insertBookmark(tx, bookmark);
  await outbox.append(tx, [audited(caller, { action: "webhook_source.bookmark", subject: bookmark.sourceId })]);
  return { outcome: "created", bookmark } as const;
}

/** Deletes a bookmark; the received webhook stays. */
export async function deleteBookmark(
  { outbox }: IngestService,
  tx: Tx,
  caller: Caller,
  { id, sourceId }: Bookmark,
): Promise<void> {
  await removeBookmark(tx, id);
  await outbox.append(tx, [audited(caller, { action: "webhook_source.delete_bookmark", subject: sourceId })]);
}

function bookmarkOf(
  received: StoredWebhookInFull,
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
