import type { Caller } from "@signalbox/auth";
import { dateInput, examples, identifier, timestamp, viewOf, webhookSourceExample } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { audited, type Edges, edgesOf, listBelow, operation, record, tooMany } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import { missingReceived } from "../received/received-api.ts";
import { countReceived, findOwnReceived, keptSince, type ReceivedChoice } from "../received/received-store.ts";
import { between, betweenFields, lockedSource, sourcePath, webhooksWrite } from "../sources/own-source.ts";
import type { Source } from "../sources/source.ts";
import type { Replay } from "./replay.ts";
import { newReplay, sourceReplays, totalMax } from "./source-replays.ts";

/** Starts a replay; a dry run counts its webhooks. @throws AppError `validation_error` for unknown ids */
async function startReplay(service: IngestService, tx: Tx, caller: Caller, source: Source, wanted: NewReplay) {
  const { ids, from, event_types: eventTypes = [], dry_run: dryRun } = wanted;
  const kept = from && new Date(Math.max(from.getTime(), keptSince(service)));
  const receivedIds = [...new Set(ids)].sort();
  const choice = { receivedIds, eventTypes, published: 0, missing: 0 };
  const begun = { ...newReplay(service, "rpl", source, { ...wanted, from: kept }), ...choice };
  if (ids) await assertThere(service, source, receivedIds);
  const total = ids ? receivedIds.length : await countReceived(service.pool, choiceOf(begun), totalMax);
  const entry = audited(caller, { action: "webhook_source.replay", subject: source.id });
  return service.replayEngine.start(tx, source.id, { ...begun, total }, { totalMax, dryRun, entry });
}

export const choiceOf = ({ sourceId, eventTypes, fromAt, toAt }: Omit<Replay, "total">): ReceivedChoice => ({
  sourceId,
  eventTypes,
  fromMs: fromAt.getTime(),
  toMs: toAt.getTime(),
});

async function assertThere({ pool }: IngestService, source: Source, ids: readonly string[]): Promise<void> {
  const found = await findOwnReceived(pool, source.accountId, ids);
  const there = new Set(found.flatMap(({ id, sourceId }) => (sourceId === source.id ? [id] : [])));
  const details = ids.flatMap((one) =>
    there.has(one) ? [] : [{ field: "ids", code: "invalid_value" as const, message: `${one}: ${missingReceived}` }],
  );
  if (details.length === 0) return;
  throw new AppError("validation_error", "Some of these webhooks do not exist.", { details: details.slice(0, 20) });
}

const exampleId = "rpl_01kbdq4v00e8w9x2m5n7p3r6tz";
const CreateReplayBody = z
  .strictObject({
    ids: z.array(z.string().max(64)).min(1).max(1_000).optional().describe("The received webhooks to publish again."),
    from: dateInput.optional().describe("Instead of ids: webhooks received at this time or later."),
    to: dateInput.optional().describe("Webhooks received before this time. Default: now."),
    event_types: z
      .array(z.string().min(1).max(256))
      .min(1)
      .max(100)
      .optional()
      .describe("Types of the webhooks between the times, each a name or a prefix that ends in `*`."),
    rate: z.int().min(1).max(1_000).default(100).describe("Webhooks published per second."),
    dry_run: z.boolean().default(false).describe("Counts the webhooks and publishes nothing."),
  })
  .refine(({ ids, from }) => (ids === undefined) !== (from === undefined), {
    path: ["ids"],
    error: "Give either ids or from.",
  })
  .refine(({ ids, to, event_types }) => ids === undefined || (to ?? event_types) === undefined, {
    path: ["ids"],
    error: "Leave out to and event_types when ids are given.",
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    path: ["to"],
    error: "to must not be earlier than from.",
  })
  .meta({
    id: "CreateReceivedWebhookReplay",
    description: "A selection by `ids`, or by time with `from`.",
    if: { required: ["ids"] },
    else: { required: ["from"] },
  })
  .register(examples, { example: { from: "2026-01-01T09:00:00.000Z", event_types: ["order.*"], rate: 50 } });

type NewReplay = z.output<typeof CreateReplayBody>;

const ReplayResource = z
  .object({
    id: identifier("The replay"),
    source_id: identifier("The source"),
    status: z.enum(["running", "completed", "cancelled"]).describe("The state of the replay."),
    total: z.int().describe("Number of chosen webhooks at its start."),
    published: z.int().describe("The number of events published so far."),
    missing: z.int().describe("Number of webhooks chosen by id that were past the retention when their turn came."),
    rate: z.int().describe("Webhooks published per second."),
    ids: z.array(z.string()).nullable().describe("The webhooks that are replayed; null is all."),
    event_types: z.array(z.string()).nullable().describe("Only webhooks of these types; null is all."),
    from: timestamp,
    to: timestamp,
    created_at: timestamp,
    finished_at: timestamp.nullable().describe("The time of its end; null while it runs."),
  })
  .meta({
    id: "ReceivedWebhookReplay",
    description: "A replay: received webhooks that are published again, in the order of their arrival.",
  })
  .register(examples, {
    example: {
      id: exampleId,
      source_id: webhookSourceExample.id,
      status: "running",
      total: 1_200,
      published: 300,
      missing: 0,
      rate: 50,
      ids: null,
      event_types: ["order.*"],
      from: "2026-01-01T09:00:00.000Z",
      to: "2026-01-02T09:00:00.000Z",
      created_at: "2026-01-02T09:00:00.000Z",
      finished_at: null,
    },
  });

const ReplayCount = z
  .object({ count: z.int().describe("Number of webhooks that would be published.") })
  .meta({ id: "ReceivedWebhookReplayCount" })
  .register(examples, { example: { count: 1_200 } });

const orAll = (chosen: readonly string[]) => (chosen.length === 0 ? null : [...chosen]);

const viewReplay = viewOf(ReplayResource, (replay: Replay) => ({
  ...between(replay),
  ids: orAll(replay.receivedIds),
  event_types: orAll(replay.eventTypes),
}));

export function replayApi(service: IngestService): Edges {
  const replays = sourceReplays(service, {
    engine: service.replayEngine,
    path: `${sourcePath}/replays`,
    noun: "replay",
    resource: ReplayResource,
    view: viewReplay,
    cancellation: "webhook_source.cancel_replay",
  });
  const declared = {
    receivedWebhookReplays: listBelow({
      summary: "List the replays of a source, newest first",
      description: "A replay publishes webhooks that were received again.",
      ...replays.list,
      graph: { field: "replays" },
    }),
    receivedWebhookReplay: record({
      summary: "Read a replay and its progress",
      description: "State, selection and number of items so far.",
      ...replays.record,
    }),
    createReceivedWebhookReplay: operation({
      summary: "Publish received webhooks again",
      description:
        "Publishes them in the order of their arrival, with `replay_of` in their events. Endpoints get them as new events; a dry run counts them.",
      auth: webhooksWrite,
      audit: "webhook_source.replay",
      input: CreateReplayBody,
      of: lockedSource(service),
      change: (tx, source, { caller, input }) => startReplay(service, tx, caller, source, input),
      refusals: {
        "too-many": ({ max }) => tooMany("from", `A replay has at most ${max} webhooks; choose a shorter time.`),
        "limit-reached": ({ max }) =>
          tooMany("replays", `A source has at most ${max} replays at once; wait until one ends, or cancel it.`),
      },
      rest: {
        post: `${sourcePath}/replays`,
        responses: { 200: ReplayCount, 202: ReplayResource },
        ...replays.start,
      },
      graph: {
        payload: { replay: replays.replayOf, count: replays.countOf },
        type: "ReceivedWebhookReplayPayload",
        names: { id: "sourceId" },
      },
    }),
    cancelReceivedWebhookReplay: operation({
      summary: "Cancel a replay",
      description: "Webhooks that are already published stay published.",
      ...replays.cancel,
      graph: { payload: "replay", type: "ReceivedWebhookReplayPayload", names: { id: "sourceId", replay_id: "id" } },
    }),
  };
  const fields = {
    ReceivedWebhookReplay: {
      ...betweenFields,
      ids: ({ receivedIds }: Replay) => orAll(receivedIds),
      eventTypes: ({ eventTypes }: Replay) => orAll(eventTypes),
    },
  };
  return edgesOf(declared, { exampleIds: { id: webhookSourceExample.id, replay_id: exampleId }, fields });
}
