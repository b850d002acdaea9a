import type { Caller } from "@signalbox/auth";
import { dateInput, examples, identifier, timestamp, viewOf, webhookSourceExample } from "@signalbox/contracts";
import { audited, type Edges, edgesOf, listBelow, operation, record, tooMany } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import { rejectionReason } from "../rejections/rejection.ts";
import { countKeptRejections, lockKeptRejections } from "../rejections/rejection-store.ts";
import { verifyAgain } from "../rejections/rejections.ts";
import { between, betweenFields, lockedSource, sourcePath, webhooksWrite } from "../sources/own-source.ts";
import type { Source } from "../sources/source.ts";
import type { RejectionRetry } from "./replay.ts";
import { newReplay, sourceReplays, stepSize, totalMax } from "./source-replays.ts";

async function startRejectionRetry(service: IngestService, tx: Tx, caller: Caller, source: Source, wanted: NewRetry) {
  const { reason, from = new Date(0), to, rate, dry_run: dryRun } = wanted;
  const counts = { received: 0, repeated: 0, refused: 0 };
  const begun = {
    ...newReplay(service, "rtr", source, { from, to, rate }),
    ...counts,
    reason: reason ?? null,
    eventTypes: [],
  };
  const retry = { ...begun, total: await countKeptRejections(tx, begun) };
  const entry = audited(caller, { action: "webhook_source.retry_rejection", subject: source.id });
  return service.retryEngine.start(tx, source.id, retry, { totalMax, dryRun, entry });
}

/** Verifies the next few rejections of a retry, one after another, so that they are received in their order. */
export async function retryStep(service: IngestService, tx: Tx, retry: RejectionRetry) {
  const limit = stepSize(retry);
  const rejections = await lockKeptRejections(service, tx, retry, limit);
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

const exampleId = "rtr_01kbdq4v00e8w9x2m5n7p3r6tz";

const RetryBody = z
  .strictObject({
    reason: rejectionReason,
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

type NewRetry = z.output<typeof RetryBody>;

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

export function rejectionRetryApi(service: IngestService): Edges {
  const retries = sourceReplays(service, {
    engine: service.retryEngine,
    path: `${sourcePath}/rejection-retries`,
    noun: "retry",
    resource: RetryResource,
    view: viewOf(RetryResource, (retry: RejectionRetry) => between(retry)),
    cancellation: "webhook_source.retry_rejection",
  });
  const declared = {
    webhookRejectionRetries: listBelow({
      summary: "List the retries of a source's rejections, newest first",
      description: "Each with its progress and outcome.",
      ...retries.list,
      graph: { field: "rejectionRetries" },
    }),
    webhookRejectionRetry: record({
      summary: "Read a retry of rejections and its progress",
      description: "State, filter and what became of the rejections so far.",
      ...retries.record,
    }),
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
        ...retries.start,
      },
      graph: {
        payload: { retry: retries.replayOf, count: retries.countOf },
        type: "WebhookRejectionRetryPayload",
        names: { id: "sourceId" },
      },
    }),
    cancelWebhookRejectionRetry: operation({
      summary: "Cancel a retry of rejections",
      description: "Webhooks that are already received stay received.",
      ...retries.cancel,
      graph: { payload: "retry", type: "WebhookRejectionRetryPayload", names: { id: "sourceId", retry_id: "id" } },
    }),
  };
  return edgesOf(declared, {
    exampleIds: { id: webhookSourceExample.id, retry_id: exampleId },
    fields: { WebhookRejectionRetry: betweenFields },
  });
}
