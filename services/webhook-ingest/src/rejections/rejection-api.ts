import {
  examples,
  WebhookRejectionResource,
  webhookRejectionExample,
  webhookSourceExample,
} from "@signalbox/contracts";
import type { Resolvers } from "@signalbox/http";
import { ok, type Refusal, timeParameter } from "@signalbox/http";
import { type Edges, edgesOf, type Load, listBelow, operation, record } from "@signalbox/service";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import { ownSource } from "../sources/own-source.ts";
import { findSource } from "../sources/source-store.ts";
import { verifyUrlOf } from "../sources/source-view.ts";
import { type Rejection, type RejectionInFull, viewRejection } from "./rejection.ts";
import { findRejection, listRejections, lockRejection } from "./rejection-store.ts";
import { retryRejection } from "./retry-rejection.ts";

const base = "/api/v1/webhooks/sources/:id/rejections";
const one = `${base}/:rejection_id` as const;
const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;
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
    example: { ...webhookRejectionExample, headers: { "x-signature": "******" }, body_base64: "eyJpZCI6ImQtMSJ9" },
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
  reason: z
    .string()
    .regex(/^[a-z_]{1,64}$/)
    .optional()
    .describe("Only rejections with this reason, such as `signature_mismatch`."),
  from: timeParameter().optional().describe("At this time or later."),
  to: timeParameter().optional().describe("Before this time."),
};

/** The refused webhooks of a source with their reasons, at both edges. */
export function rejectionApi(service: IngestService, loadReceived: Load<unknown>): Edges {
  return edgesOf(declared(service), {
    exampleIds: { id: webhookSourceExample.id, rejection_id: webhookRejectionExample.id },
    fields: rejectionFields(service, loadReceived),
  });
}

function declared(service: IngestService) {
  const view = (rejection: Rejection) => viewRejection(rejection, verifyUrlOf(service, rejection.sourceId));
  return {
    rejectedWebhooks: listBelow({
      summary: "List refused webhooks with the reason, newest first",
      description: "The list is bounded; the oldest leave first.",
      auth: read,
      limits: service.pageLimits,
      filter: rejectionFilter,
      of: ownSource(service),
      read: (range, sourceIds, { filter }) => listRejections(service.pool, sourceIds, range, filter),
      parentId: ({ sourceId }) => sourceId,
      position: positionOf,
      rest: { get: base, item: WebhookRejectionResource, view },
      graph: { field: "rejections" },
    }),
    rejectedWebhook: record({
      summary: "Read a refused webhook with its headers and body, if they are kept",
      description: "Headers and body are kept while `keep_rejected_bodies` is on.",
      auth: read,
      find: async ({ caller, params: { id, rejection_id: ref } }) =>
        (await findSource(service, caller.accountId, id)) && findRejection(service.pool, id, ref),
      missing,
      rest: {
        get: one,
        resource: RejectionInFullResource,
        answer: (rejection) => ok({ ...view(rejection), ...viewWebhook(rejection) }),
      },
    }),
    retryWebhookRejection: operation({
      summary: "Verify a refused webhook again",
      description:
        "Verifies it with the current secrets and settings, at the time of its arrival. An accepted webhook is received like any other, once.",
      auth: write,
      audit: "webhook_source.retry_rejection",
      of: {
        find: (tx, { caller, params: { id, rejection_id: ref } }) =>
          lockRejection(service, tx, caller.accountId, id, ref),
        missing,
      },
      change: (tx, rejection, { caller }) => retryRejection(service, tx, caller, rejection),
      refusals: {
        refused: ({ reason }) => refusedRetry(`The webhook is refused again: ${reason}.`),
        "not-kept": refusedRetry(
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
}

const refusedRetry = (message: string): Refusal => ({
  code: "conflict",
  message,
  details: [{ field: "rejection", code: "invalid", message }],
});

type Retried = { readonly receivedId: string | null };

const rejectionFields = (service: IngestService, loadReceived: Load<unknown>): Resolvers => ({
  WebhookRejection: {
    kept: ({ isKept }: Rejection) => isKept,
    signedAt: ({ figures }: Rejection) => figures?.signedAt ?? null,
    ageSeconds: ({ figures }: Rejection) => figures?.ageSeconds ?? null,
    toleranceSeconds: ({ figures }: Rejection) => figures?.toleranceSeconds ?? null,
    expected: ({ figures }: Rejection) => figures?.expected ?? null,
    found: ({ figures }: Rejection) => figures?.found ?? null,
    headersSeen: ({ figures }: Rejection) => figures?.headersSeen ?? [],
    headersMissing: ({ figures }: Rejection) => figures?.headersMissing ?? [],
    verifyUrl: ({ sourceId }: Rejection) => verifyUrlOf(service, sourceId),
  },
  RetryWebhookRejectionPayload: {
    receivedWebhook: ({ receivedId }: Retried, _, context) => receivedId && loadReceived(context, receivedId),
  },
});

const positionOf = (row: Rejection) => ({ at: row.rejectedAt, id: row.id });

const viewWebhook = ({ headers, body }: RejectionInFull) => ({
  headers,
  body_base64: body?.toString("base64") ?? null,
});
