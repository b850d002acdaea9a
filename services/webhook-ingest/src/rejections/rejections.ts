import type { Caller } from "@signalbox/auth";
import { exampleOf, examples, viewOf, WebhookRejectionResource, webhookSourceExample } from "@signalbox/contracts";
import { AppError, newId } from "@signalbox/core";
import { ok, type Resolve, timeParameter } from "@signalbox/http";
import { audited, conflict, type Edges, edgesOf, type Load, listBelow, operation, record } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import { digestId, judgePosted } from "../judging/judge-webhook.ts";
import { belowSource, sourcePath, webhooksRead, webhooksWrite } from "../sources/own-source.ts";
import { addressOf } from "../sources/source.ts";
import { findSource } from "../sources/source-store.ts";
import {
  type RejectionInFull,
  rejectionReason,
  type ShownRejection,
  shownRejection,
  viewRejection,
} from "./rejection.ts";
import { findRejection, type LockedRejection, listRejections, lockRejection, saveRetried } from "./rejection-store.ts";

async function retryRejection(service: IngestService, tx: Tx, caller: Caller, rejection: LockedRejection) {
  const result = await verifyAgain(service, tx, rejection);
  if (result.outcome === "received") {
    const entry = audited(caller, { action: "webhook_source.retry_rejection", subject: rejection.sourceId });
    await service.outbox.append(tx, [entry]);
  }
  return result;
}

/** Verifies a refused webhook as at its arrival. @throws AppError `unavailable` while its source is being changed */
export async function verifyAgain(service: IngestService, tx: Tx, rejection: LockedRejection) {
  const { sourceCache, webhookWriter, clock } = service;
  const { webhook, sourceId, rejectedAt, receivedId } = rejection;
  if (receivedId !== null) return { outcome: "repeated", receivedId } as const;
  if (webhook === null) return { outcome: "not-kept" } as const;
  const known = await sourceCache.reread(sourceId);
  if (known === null) return { outcome: "refused", reason: "source_deleted" } as const;
  const posted = { ...webhook, sourceId, address: addressOf(known.source) };
  const judgement = await judgePosted(service, posted, known, rejectedAt);
  if (judgement.outcome !== "accepted")
    return { outcome: "refused", reason: "reason" in judgement ? judgement.reason : judgement.outcome } as const;
  // Received now: the day of its rejection may be past the retention.
  const receivedAt = clock.now();
  const { id, deliveryId, body } = judgement.webhook;
  // An id that we make is made of the rejection: the same one, when a process dies before it notes that it was received.
  const isOurs = !deliveryId.signed && deliveryId.value === digestId(id, body);
  const received = {
    ...judgement.webhook,
    id: newId("rcv", receivedAt.getTime()),
    deliveryId: isOurs ? { ...deliveryId, value: digestId(rejection.id, body) } : deliveryId,
    receivedAt,
  };
  const outcome = await webhookWriter.write(received);
  if (outcome === "stale")
    throw new AppError("unavailable", "The source is being changed. Try again.", { retryAfterSeconds: 1 });
  // The partner sent it again meanwhile.
  if (outcome === "repeated") return { outcome, receivedId: null };
  await saveRetried(tx, rejection.id, received.id);
  return { outcome, receivedId: received.id };
}

const base = `${sourcePath}/rejections` as const;
const one = `${base}/:rejection_id` as const;
const missing = "There is no such rejection.";

const RejectionInFullResource = WebhookRejectionResource.extend({
  headers: z
    .record(z.string(), z.union([z.string(), z.array(z.string())]))
    .nullable()
    .describe(
      "All headers as they came; signatures and credentials are masked. Null when the source keeps no refused webhooks.",
    ),
  body_base64: z.string().nullable().describe("The first 4 KiB of the body."),
})
  .meta({ id: "WebhookRejectionInFull", description: "A webhook of a partner that was refused." })
  .register(examples, {
    example: {
      ...exampleOf(WebhookRejectionResource),
      headers: { "x-signature": "******" },
      body_base64: "eyJpZCI6ImQtMSJ9",
    },
  });

const RetriedResource = z
  .object({
    outcome: z
      .enum(["received", "repeated"])
      .describe("repeated: it was already received, by a retry or a repetition."),
    received_id: z.string().nullable().describe("The webhook that was received; null when it was refused again."),
  })
  .meta({ id: "RetriedWebhookRejection" })
  .register(examples, { example: { outcome: "received", received_id: "rcv_01kbdq4v00e8w9x2m5n7p3r6tz" } });

const rejectionFilter = {
  reason: rejectionReason,
  from: timeParameter().optional().describe("At this time or later."),
  to: timeParameter().optional().describe("Before this time."),
};

const viewInFull = viewOf(RejectionInFullResource, ({ body }: RejectionInFull & ShownRejection) => ({
  body_base64: body?.toString("base64") ?? null,
}));

export function rejectionApi(service: IngestService, loadReceived: Load<unknown>): Edges {
  const receivedWebhook: Resolve = ({ receivedId }: { readonly receivedId: string | null }, _, context) =>
    receivedId && loadReceived(context, receivedId);
  const declared = {
    rejectedWebhooks: listBelow({
      summary: "List refused webhooks with the reason, newest first",
      description: "The list is bounded; the oldest leave first.",
      ...belowSource(service),
      filter: rejectionFilter,
      read: async (range, sourceIds, { filter }) =>
        (await listRejections(service.pool, sourceIds, range, filter)).map((one) => shownRejection(service, one)),
      position: ({ rejectedAt: at, id }) => ({ at, id }),
      rest: { get: base, item: WebhookRejectionResource, view: viewRejection },
      graph: { field: "rejections" },
    }),
    rejectedWebhook: record({
      summary: "Read a refused webhook with its headers and body, if they are kept",
      description: "Headers and body are kept while `keep_rejected_bodies` is on.",
      auth: webhooksRead,
      find: async ({ caller, params: { id, rejection_id: ref } }) =>
        (await findSource(service, caller.accountId, id)) && findRejection(service.pool, id, ref),
      missing,
      rest: {
        get: one,
        resource: RejectionInFullResource,
        answer: (rejection) => ok(viewInFull(shownRejection(service, rejection))),
      },
    }),
    retryWebhookRejection: operation({
      summary: "Verify a refused webhook again",
      description:
        "Verifies it with the current secrets and settings, at the time of its arrival. An accepted webhook is received like any other, once.",
      auth: webhooksWrite,
      audit: "webhook_source.retry_rejection",
      of: {
        find: (tx, { caller, params: { id, rejection_id: ref } }) =>
          lockRejection(service, tx, caller.accountId, id, ref),
        missing,
      },
      change: (tx, rejection, { caller }) => retryRejection(service, tx, caller, rejection),
      refusals: {
        refused: ({ reason }) => conflict("rejection", "invalid", `The webhook is refused again: ${reason}.`),
        "not-kept": conflict(
          "rejection",
          "invalid",
          "The webhook was not kept. Set keep_rejected_bodies on the source, and have the webhook sent again.",
        ),
      },
      rest: {
        post: `${one}/retry`,
        responses: { 200: RetriedResource },
        idempotent: true,
        answer: ({ outcome, receivedId }) => ok({ outcome, received_id: receivedId }),
      },
      graph: {
        payload: { outcome: ({ outcome }) => outcome, receivedId: ({ receivedId }) => receivedId },
        type: "RetryWebhookRejectionPayload",
        names: { id: "sourceId", rejection_id: "id" },
      },
    }),
  };
  return edgesOf(declared, {
    exampleIds: { id: webhookSourceExample.id, rejection_id: exampleOf(WebhookRejectionResource).id },
    fields: { RetryWebhookRejectionPayload: { receivedWebhook } },
  });
}
