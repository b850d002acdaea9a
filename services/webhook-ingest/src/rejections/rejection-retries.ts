import type { Caller } from "@signalbox/auth";
import { dateInput, examples, identifier, timestamp, viewOf, webhookSourceExample } from "@signalbox/contracts";
import { newId } from "@signalbox/core";
import { accepted, ok } from "@signalbox/http";
import { audited, type Edges, edgesOf, listBelow, operation, record, tooMany } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import {
  between,
  betweenFields,
  lockedSource,
  ownSource,
  sourcePath,
  webhooksRead,
  webhooksWrite,
} from "../sources/own-source.ts";
import type { Source } from "../sources/source.ts";
import type { RejectionRetry } from "./rejection-retry.ts";
import { countKeptRejections, lockKeptRejections } from "./rejection-store.ts";
import { verifyAgain } from "./rejections.ts";

/** More rejections than the bytes of a source hold. */
const totalMax = 1_000_000;
/** Rejections of one transaction. */
const stepMax = 20;

async function startRejectionRetry(
  service: IngestService,
  tx: Tx,
  caller: Caller,
  { id: sourceId, accountId }: Source,
  { reason, from: fromAt = new Date(0), to, rate, dry_run: dryRun }: z.output<typeof RetryBody>,
) {
  const now = service.clock.now();
  const choice = { sourceId, reason: reason ?? null, fromAt, toAt: to && to < now ? to : now };
  const retry: RejectionRetry = {
    ...choice,
    id: newId("rtr", now.getTime()),
    accountId,
    status: "running",
    eventTypes: [],
    rate,
    total: await countKeptRejections(tx, choice),
    received: 0,
    repeated: 0,
    refused: 0,
    positionAt: fromAt,
    positionId: "",
    createdAt: now,
    finishedAt: null,
  };
  const entry = audited(caller, { action: "webhook_source.retry_rejection", subject: sourceId });
  return service.retryEngine.start(tx, sourceId, retry, { totalMax, dryRun, entry });
}

function cancelRejectionRetry({ retryEngine }: IngestService, tx: Tx, caller: Caller, retry: RejectionRetry) {
  const entry = audited(caller, { action: "webhook_source.retry_rejection", subject: retry.sourceId });
  return retryEngine.cancel(tx, retry, entry);
}

/** Verifies the next few rejections of a retry, one after another, so that they are received in their order. */
export async function retryStep(service: IngestService, tx: Tx, retry: RejectionRetry) {
  const position = { at: retry.positionAt, id: retry.positionId };
  const limit = Math.min(stepMax, Math.max(1, Math.ceil(retry.rate / 10)));
  const rejections = await lockKeptRejections(service, tx, retry, position, limit);
  const counts = { received: retry.received, repeated: retry.repeated, refused: retry.refused };
  for (const rejection of rejections) {
    const { outcome } = await verifyAgain(service, tx, rejection);
    counts[outcome === "not-kept" ? "refused" : outcome]++;
  }
  const last = rejections.at(-1);
  const reached = last ? { positionAt: last.rejectedAt, positionId: last.id } : {};
  const count = rejections.length;
  return { replay: { ...retry, ...counts, ...reached }, count, isLast: count < limit };
}

const list = `${sourcePath}/rejection-retries` as const;
const one = `${list}/:retry_id` as const;
const exampleId = "rtr_01kbdq4v00e8w9x2m5n7p3r6tz";
const missing = "There is no such retry.";

const RetryBody = z
  .strictObject({
    reason: z
      .string()
      .regex(/^[a-z_]{1,64}$/)
      .optional()
      .describe("Only rejections with this reason, such as `signature_mismatch`."),
    from: dateInput.optional().describe("Rejections at this time or later."),
    to: dateInput.optional().describe("Rejections before this time. Default: now."),
    rate: z.int().min(1).max(1_000).default(100).describe("Webhooks verified per second."),
    dry_run: z.boolean().default(false).describe("Counts the rejections and verifies none."),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    path: ["to"],
    error: "to must not be earlier than from.",
  })
  .meta({ id: "RetryWebhookRejections" })
  .register(examples, { example: { reason: "signature_mismatch", rate: 50 } });

const RetryResource = z
  .object({
    id: identifier("The retry"),
    source_id: identifier("The source"),
    status: z.enum(["running", "completed", "cancelled"]).describe("The state of the retry."),
    total: z.int().describe("Number of chosen rejections at its start."),
    received: z.int().describe("Webhooks that were received so far."),
    repeated: z.int().describe("Webhooks that had been received already."),
    refused: z.int().describe("Webhooks that were refused again."),
    rate: z.int().describe("Webhooks verified per second."),
    reason: z.string().nullable().describe("Only rejections with this reason; null is all."),
    from: timestamp,
    to: timestamp,
    created_at: timestamp,
    finished_at: timestamp.nullable().describe("The time of its end; null while it runs."),
  })
  .meta({
    id: "WebhookRejectionRetry",
    description: "A retry: kept rejections of a source that are verified again, in the order of their arrival.",
  })
  .register(examples, {
    example: {
      id: exampleId,
      source_id: webhookSourceExample.id,
      status: "running",
      total: 100,
      received: 60,
      repeated: 2,
      refused: 0,
      rate: 50,
      reason: "signature_mismatch",
      from: "1970-01-01T00:00:00.000Z",
      to: "2026-01-02T09:00:00.000Z",
      created_at: "2026-01-02T09:00:00.000Z",
      finished_at: null,
    },
  });

const RetryCount = z
  .object({ count: z.int().describe("Number of rejections that would be verified again.") })
  .meta({ id: "WebhookRejectionRetryCount" })
  .register(examples, { example: { count: 100 } });

const viewRetry = viewOf(RetryResource, (retry: RejectionRetry) => between(retry));

export function rejectionRetryApi(service: IngestService): Edges {
  const exampleIds = { id: webhookSourceExample.id, retry_id: exampleId };
  const fields = { WebhookRejectionRetry: betweenFields };
  return edgesOf({ ...reads(service), ...writes(service) }, { exampleIds, fields });
}

function reads(service: IngestService) {
  return {
    webhookRejectionRetries: listBelow({
      summary: "List the retries of a source's rejections, newest first",
      description: "Each with its progress and outcome.",
      auth: webhooksRead,
      limits: service.pageLimits,
      of: ownSource(service),
      read: (range, sourceIds, { caller }) =>
        service.retryEngine.list(range, caller.accountId, { parentIds: sourceIds }),
      parentId: ({ sourceId }) => sourceId,
      rest: { get: list, item: RetryResource, view: viewRetry },
      graph: { field: "rejectionRetries" },
    }),
    webhookRejectionRetry: record({
      summary: "Read a retry of rejections and its progress",
      description: "State, filter and what became of the rejections so far.",
      auth: webhooksRead,
      find: ({ caller, params }) => service.retryEngine.find(params.retry_id, caller.accountId, params.id),
      missing,
      rest: { get: one, resource: RetryResource, answer: (retry) => ok(viewRetry(retry)) },
    }),
  };
}

function writes(service: IngestService) {
  return {
    retryWebhookRejections: operation({
      summary: "Verify all kept rejections of a source again",
      description:
        "Verifies those that the filter chooses in the order of their arrival, with the current secrets and settings, each at the time of its arrival. A dry run counts them.",
      auth: webhooksWrite,
      audit: "webhook_source.retry_rejection",
      input: RetryBody,
      of: lockedSource(service),
      change: (tx, row, { caller, input }) => startRejectionRetry(service, tx, caller, row, input),
      refusals: {
        "too-many": ({ max }) => tooMany("from", `A retry has at most ${max} rejections; choose a shorter time.`),
        "limit-reached": () =>
          tooMany("retries", "A retry of this source is running; wait until it ends, or cancel it."),
      },
      rest: {
        post: `${sourcePath}/rejections/retry`,
        responses: { 200: RetryCount, 202: RetryResource },
        idempotent: true,
        answer: (result) =>
          result.outcome === "started" ? accepted(viewRetry(result.replay)) : ok({ count: result.count }),
      },
      graph: {
        payload: {
          retry: (result) => (result.outcome === "started" ? result.replay : null),
          count: (result) => (result.outcome === "counted" ? result.count : null),
        },
        type: "WebhookRejectionRetryPayload",
        names: { id: "sourceId" },
      },
    }),
    cancelWebhookRejectionRetry: operation({
      summary: "Cancel a retry of rejections",
      description: "Webhooks that are already received stay received.",
      auth: webhooksWrite,
      audit: "webhook_source.retry_rejection",
      of: {
        find: (tx, { caller, params }) => service.retryEngine.lock(tx, params.retry_id, caller.accountId, params.id),
        missing,
      },
      change: (tx, retry, { caller }) => cancelRejectionRetry(service, tx, caller, retry),
      rest: {
        post: `${one}/cancel`,
        responses: { 200: RetryResource },
        idempotent: true,
        answer: (retry) => ok(viewRetry(retry)),
      },
      graph: { payload: "retry", type: "WebhookRejectionRetryPayload", names: { id: "sourceId", retry_id: "id" } },
    }),
  };
}
