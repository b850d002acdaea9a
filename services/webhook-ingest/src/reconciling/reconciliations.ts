import type { Caller } from "@signalbox/auth";
import { examples, identifier, timeInput, timestamp, viewOf, webhookSourceExample } from "@signalbox/contracts";
import { accepted, ok } from "@signalbox/http";
import { audited, conflict, type Edges, edgesOf, list, listBelow, operation, record } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import {
  belowSource,
  between,
  betweenFields,
  lockedSource,
  sourcePath,
  webhooksRead,
  webhooksWrite,
} from "../sources/own-source.ts";
import type { Source } from "../sources/source.ts";
import { findSource } from "../sources/source-store.ts";
import { listOutages } from "./outages.ts";
import { earliest, newRun } from "./reconcile-step.ts";
import {
  type Outage,
  type Reconciliation,
  reconciliationStatuses,
  reconciliationTriggers,
  runSummaryOf,
  summaryOf,
} from "./reconciliation.ts";
import { findCoveredTo, findRun, listRuns, openRequestedRun } from "./reconciliation-store.ts";

async function requestReconciliation(service: IngestService, tx: Tx, caller: Caller, source: Source, wanted: Wanted) {
  const { from, dry_run: dryRun } = wanted;
  const covered = await findCoveredTo(tx, source.id);
  if (source.senderKey === null || covered === null) return { outcome: "no-key" } as const;
  if (source.status !== "active") return { outcome: "paused" } as const;
  const now = service.clock.now();
  const fromAt = earliest(service, source, source.senderKey.sender, from === undefined ? covered : new Date(from));
  const run = { ...newRun(source, "request", { fromAt, toAt: now, now }), dryRun };
  if (!(await openRequestedRun(tx, run))) return { outcome: "under-way" } as const;
  await service.outbox.append(tx, [audited(caller, { action: "webhook_source.reconcile", subject: source.id })]);
  return { outcome: "started", reconciliation: run } as const;
}

const exampleId = "rcn_01kbdq4v00e8w9x2m5n7p3r6tz";
const outageExampleId = "out_01kbdq4v00e8w9x2m5n7p3r6tz";
const base = `${sourcePath}/reconciliations` as const;
const missing = "There is no such reconciliation, or it is not kept any more.";

const ReconcileBody = z
  .strictObject({
    from: timeInput
      .optional()
      .describe("Webhooks that were sent at this time or later. Default: since the last comparison."),
    dry_run: z.boolean().default(false).describe("Counts what is missing and recovers nothing."),
  })
  .meta({ id: "ReconcileWebhookSource" })
  .register(examples, { example: { from: "2026-01-01T14:00:00.000Z", dry_run: true } });

type Wanted = z.output<typeof ReconcileBody>;

const summary = z.string().describe("The report in one line, its times in UTC.");
const missedCount = z.int().describe("Webhooks that the sender sent and the source had not received.");
const recoveredCount = z.int().describe("Those of them that the source has received since.");

const ReconciliationResource = z
  .object({
    id: identifier("The reconciliation"),
    source_id: identifier("The source"),
    trigger: z
      .enum(reconciliationTriggers)
      .describe(
        "`key`: a new key; `schedule`: the interval; `outage`: no instance received webhooks; `rejections`: a spell of them; `request`: an owner.",
      ),
    outage_id: z.string().nullable().describe("The outage that it recovers from."),
    dry_run: z.boolean().describe("True for one that counts and recovers nothing."),
    status: z.enum(reconciliationStatuses).describe("The state of the reconciliation."),
    reason: z
      .string()
      .nullable()
      .describe("Stable word for a failure, or `more_to_come` for one that goes on with the next; null otherwise."),
    from: timestamp,
    to: timestamp,
    listed: z.int().describe("Webhooks that the sender listed as not delivered."),
    missed: missedCount,
    recovered: recoveredCount,
    missed_from: timestamp.nullable().describe("The time at which the first missed webhook was sent; null for none."),
    missed_to: timestamp.nullable().describe("The time at which the last missed webhook was sent; null for none."),
    summary,
    created_at: timestamp,
    finished_at: timestamp.nullable().describe("The time of its end; null while it runs."),
  })
  .meta({
    id: "WebhookReconciliation",
    description: "A comparison of what a source received with what its sender says it sent.",
  })
  .register(examples, {
    example: {
      id: exampleId,
      source_id: webhookSourceExample.id,
      trigger: "outage",
      outage_id: outageExampleId,
      dry_run: false,
      status: "completed",
      reason: null,
      from: "2026-01-01T13:51:07.000Z",
      to: "2026-01-01T15:02:11.000Z",
      listed: 4_000,
      missed: 4_000,
      recovered: 4_000,
      missed_from: "2026-01-01T14:02:03.000Z",
      missed_to: "2026-01-01T15:01:58.000Z",
      summary: "14:02–15:01: 4,000 missed, 4,000 recovered",
      created_at: "2026-01-01T15:02:11.000Z",
      finished_at: "2026-01-01T15:05:02.000Z",
    },
  });

const OutageResource = z
  .object({
    id: identifier("The outage"),
    from: timestamp,
    to: timestamp,
    missed: missedCount,
    recovered: recoveredCount,
    running: z.int().describe("Reconciliations that still recover from it."),
    summary,
    created_at: timestamp,
  })
  .meta({ id: "WebhookOutage", description: "A time in which no instance received webhooks." })
  .register(examples, {
    example: {
      id: outageExampleId,
      from: "2026-01-01T14:02:01.000Z",
      to: "2026-01-01T15:01:59.000Z",
      missed: 4_000,
      recovered: 4_000,
      running: 0,
      summary: "14:02–15:01: 4,000 missed, 4,000 recovered",
      created_at: "2026-01-01T15:01:59.000Z",
    },
  });

const viewReconciliation = viewOf(ReconciliationResource, (run: Reconciliation) => ({
  ...between(run),
  summary: runSummaryOf(run),
}));
const viewOutage = viewOf(OutageResource, (outage: Outage) => ({ ...between(outage), summary: summaryOf(outage) }));

export function reconciliationApi(service: IngestService): Edges {
  const { pool, pageLimits } = service;
  const declared = {
    webhookReconciliations: listBelow({
      summary: "List the reconciliations of a source, newest first",
      description:
        "Comparisons with the sender's own list. One by the interval that found nothing is kept until the next.",
      ...belowSource(service),
      read: (range, sourceIds) => listRuns(pool, sourceIds, range),
      rest: { get: base, item: ReconciliationResource, view: viewReconciliation },
      graph: { field: "reconciliations" },
    }),
    webhookReconciliation: record({
      summary: "Read a reconciliation and its progress",
      description: "State, time and number of missed and recovered webhooks so far.",
      auth: webhooksRead,
      find: async ({ caller, params }) =>
        (await findSource(service, caller.accountId, params.id)) && findRun(pool, params.id, params.reconciliation_id),
      missing,
      rest: {
        get: `${base}/:reconciliation_id`,
        resource: ReconciliationResource,
        answer: (run) => ok(viewReconciliation(run)),
      },
    }),
    webhookOutages: list({
      summary: "List the outages that sources recovered from, newest first",
      description: "Times in which no instance received webhooks, each with what the account's sources missed in it.",
      auth: webhooksRead,
      limits: pageLimits,
      read: (range, { accountId }) => listOutages(pool, accountId, range),
      rest: { get: "/api/v1/webhooks/outages", item: OutageResource, view: viewOutage },
    }),
    reconcileWebhookSource: operation({
      summary: "Compare a source with its sender's list now",
      description: "Recovers what the source has missed; a dry run counts it. The answer comes before its end.",
      auth: webhooksWrite,
      audit: "webhook_source.reconcile",
      input: ReconcileBody,
      of: lockedSource(service),
      change: (tx, found, { caller, input }) => requestReconciliation(service, tx, caller, found, input),
      refusals: {
        "no-key": conflict("sender_key", "invalid", "The source has no read key of its sender; give it one first."),
        paused: conflict("status", "invalid", "The source takes no webhooks now; set its status to active first."),
        "under-way": conflict("reconciliations", "too_many", "A reconciliation of the source is under way."),
      },
      rest: {
        post: `${sourcePath}/reconcile`,
        responses: { 202: ReconciliationResource },
        idempotent: true,
        answer: ({ reconciliation }) => accepted(viewReconciliation(reconciliation)),
      },
      graph: { payload: { reconciliation: (result) => result.reconciliation }, type: "ReconcileWebhookSourcePayload" },
    }),
  };
  const fields = {
    WebhookReconciliation: { ...betweenFields, summary: runSummaryOf },
    WebhookOutage: { ...betweenFields, summary: summaryOf },
  };
  const exampleIds = { id: webhookSourceExample.id, reconciliation_id: exampleId };
  return edgesOf(declared, { exampleIds, fields });
}
