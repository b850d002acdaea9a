import type { Caller } from "@signalbox/auth";
import { examples, identifier, timestamp, viewOf, webhookSourceExample } from "@signalbox/contracts";
import { MiB, newId } from "@signalbox/core";
import { created, ok, refused } from "@signalbox/http";
import { audited, conflict, type Edges, edgesOf, list, operation, record, tooMany } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import { attachment, findReceivedBy, maskedHeaders, missingReceived } from "../received/received-api.ts";
import type { StoredWebhookInFull } from "../received/received-store.ts";
import { sourcePath, webhooksRead, webhooksWrite } from "../sources/own-source.ts";
import {
  type Bookmark,
  findBookmark,
  insertBookmark,
  listBookmarks,
  lockBookmark,
  lockBookmarkUsage,
  removeBookmark,
  type StoredBookmark,
} from "./bookmark-store.ts";

/** Largest sum of the bodies of an account's bookmarks. */
const bytesMax = 16 * MiB;

async function createBookmark(
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
  const createdAt = clock.now();
  const own = { id: newId("bmk", createdAt.getTime()), accountId, name, receivedId: received.id, createdAt };
  const bookmark: StoredBookmark = { ...received, ...own };
  await insertBookmark(tx, bookmark);
  await outbox.append(tx, [audited(caller, { action: "webhook_source.bookmark", subject: bookmark.sourceId })]);
  return { outcome: "created", bookmark } as const;
}

async function deleteBookmark({ outbox }: IngestService, tx: Tx, caller: Caller, { id, sourceId }: Bookmark) {
  await removeBookmark(tx, id);
  await outbox.append(tx, [audited(caller, { action: "webhook_source.delete_bookmark", subject: sourceId })]);
}

const base = "/api/v1/webhooks/bookmarks";
const one = `${base}/:name` as const;
const missing = "There is no bookmark of this name.";
const nameTaken = "The account has a bookmark of this name; delete it or choose another name.";

const bookmarkName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, "Up to 64 letters, digits, dots, dashes and underscores.")
  .describe("The name of the bookmark, unique in the account: up to 64 letters, digits, dots, dashes and underscores.");

const BookmarkBody = z
  .strictObject({ name: bookmarkName })
  .meta({ id: "BookmarkReceivedWebhook" })
  .register(examples, { example: { name: "first-order" } });

const bookmarkExample = {
  id: "bmk_01kbdq4v00e8w9x2m5n7p3r6tz",
  name: "first-order",
  source_id: webhookSourceExample.id,
  received_id: "rcv_5nVq2Yc8WfKsR0bZxLtPgd",
  delivery_id: "d-1",
  event_type: "order.created",
  content_type: "application/json",
  body_bytes: 38,
  received_at: "2026-01-01T09:00:00.000Z",
  created_at: "2026-01-02T09:00:00.000Z",
};

const BookmarkResource = z
  .object({
    id: identifier("The bookmark"),
    name: z.string().describe("Its name, unique in the account."),
    source_id: identifier("The source that received the webhook"),
    received_id: identifier("The received webhook, which may be past the retention"),
    delivery_id: z.string().describe("Delivery id of the partner."),
    event_type: z.string().nullable().describe("The sender's name of the event type."),
    content_type: z.string().nullable().describe("The media type of the body."),
    body_bytes: z.int().describe("The size of the body in bytes."),
    received_at: timestamp,
    created_at: timestamp,
  })
  .meta({ id: "WebhookBookmark" })
  .register(examples, { example: bookmarkExample });

const BookmarkInFull = BookmarkResource.extend({ headers: maskedHeaders })
  .meta({
    id: "WebhookBookmarkInFull",
    description: "A received webhook that is kept under a name beyond the retention.",
  })
  .register(examples, { example: { ...bookmarkExample, headers: { "content-type": "application/json" } } });

const viewBookmark = viewOf(BookmarkResource, (_: Bookmark) => ({}));
const viewInFull = viewOf(BookmarkInFull, (_: StoredBookmark) => ({}));

/** Received webhooks that are kept under a name, at both edges. Their bytes are a route of REST alone. */
export function bookmarkApi(service: IngestService): Edges {
  const { name, received_id: ref } = bookmarkExample;
  const edges = edgesOf(declared(service), { exampleIds: { id: webhookSourceExample.id, ref, name } });
  edges.routes.get(`${one}/body`, {
    operationId: "webhookBookmarkBody",
    summary: "Read the bytes of a bookmark as they were signed",
    description: "Neither parsed nor changed.",
    auth: webhooksRead,
    responses: { 200: { content: ["application/octet-stream"] }, 404: "error" },
    async handle({ caller, params }) {
      const found = await findBookmark(service.pool, caller.accountId, params.name);
      return found ? attachment(found) : refused(404, "not_found", { message: missing });
    },
  });
  return edges;
}

function declared(service: IngestService) {
  const { pool, pageLimits } = service;
  return {
    webhookBookmarks: list({
      summary: "List bookmarks, newest first",
      description: "Received webhooks of the account that are kept under a name.",
      auth: webhooksRead,
      limits: pageLimits,
      read: (range, { accountId }) => listBookmarks(pool, accountId, range),
      rest: { get: base, item: BookmarkResource, view: viewBookmark },
    }),
    webhookBookmark: record({
      summary: "Read a bookmark with the headers of its webhook",
      description: "The body has a route of its own.",
      auth: webhooksRead,
      find: ({ caller, params }) => findBookmark(pool, caller.accountId, params.name),
      missing,
      rest: { get: one, resource: BookmarkInFull, answer: (bookmark) => ok(viewInFull(bookmark)) },
    }),
    bookmarkReceivedWebhook: operation({
      summary: "Keep a received webhook under a name",
      description:
        "Its headers and bytes are copied and stay past the retention, until the bookmark or the source is deleted.",
      auth: webhooksWrite,
      audit: "webhook_source.bookmark",
      input: BookmarkBody,
      of: {
        find: (_tx, { caller, params }) => findReceivedBy(service, caller.accountId, params),
        read: ({ caller, params }) => findReceivedBy(service, caller.accountId, params),
        missing: missingReceived,
      },
      change: (tx, received, { caller, input }) => createBookmark(service, tx, caller, received, input.name),
      refusals: {
        "name-taken": conflict("name", "invalid", nameTaken),
        "limit-reached": ({ max }) =>
          tooMany("name", `The account has ${max} bookmarks; delete one that is not needed.`),
        "bytes-reached": tooMany("name", "The bookmarks of the account would have more than 16 MiB; delete one."),
      },
      rest: {
        post: `${sourcePath}/received/:ref/bookmark`,
        responses: { 201: BookmarkResource },
        idempotent: true,
        answer: ({ bookmark }) => created(`${base}/${bookmark.name}`, viewBookmark(bookmark)),
      },
      graph: {
        payload: { webhookBookmark: ({ bookmark }) => bookmark },
        names: { id: "sourceId", ref: "id" },
      },
    }),
    deleteWebhookBookmark: operation({
      summary: "Delete a bookmark",
      description: "The received webhook stays as long as its retention.",
      auth: webhooksWrite,
      audit: "webhook_source.delete_bookmark",
      of: { find: (tx, { caller, params }) => lockBookmark(tx, caller.accountId, params.name), missing },
      change: (tx, bookmark, { caller }) => deleteBookmark(service, tx, caller, bookmark),
      rest: { delete: one, responses: { 204: "empty" }, idempotent: true },
      graph: {
        payload: { deletedWebhookBookmarkName: (_, { params }) => params.name },
        type: "DeleteWebhookBookmarkPayload",
      },
    }),
  };
}
