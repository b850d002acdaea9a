import type { Caller } from "@signalbox/auth";
import { dateInput, examples, identifier, timestamp, viewOf, webhookSourceExample } from "@signalbox/contracts";
import { AppError, newId } from "@signalbox/core";
import { accepted, ok } from "@signalbox/http";
import { audited, type Edges, edgesOf, listBelow, operation, record, tooMany } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import { missingReceived } from "../received/received-api.ts";
import { countReceived, findOwnReceived, keptSince, type ReceivedChoice } from "../received/received-store.ts";
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
import type { Replay } from "./replay.ts";

const totalMax = 1_000_000;

/** Starts a replay; a dry run counts its webhooks. @throws AppError `validation_error` for unknown ids */
async function startReplay(service: IngestService, tx: Tx, caller: Caller, source: Source, wanted: NewReplay) {
  const { pool, replayEngine } = service;
  const started = newReplay(service, source, wanted);
  const { receivedIds } = started;
  if (wanted.ids) await assertThere(service, source, receivedIds);
  const total = wanted.ids ? receivedIds.length : await countReceived(pool, choiceOf(started), totalMax);
  const entry = audited(caller, { action: "webhook_source.replay", subject: source.id });
  return replayEngine.start(tx, source.id, { ...started, total }, { totalMax, dryRun: wanted.dry_run, entry });
}

function cancelReplay({ replayEngine }: IngestService, tx: Tx, caller: Caller, replay: Replay) {
  const entry = audited(caller, { action: "webhook_source.cancel_replay", subject: replay.sourceId });
  return replayEngine.cancel(tx, replay, entry);
}

export const choiceOf = ({ sourceId, eventTypes, fromAt, toAt }: Replay): ReceivedChoice => ({
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

/** Creates the replay in its first state, with its times limited to the retention and to the present. */
function newReplay(
  service: IngestService,
  { id: sourceId, accountId }: Source,
  { ids, from, to, event_types: eventTypes = [], rate }: NewReplay,
): Replay {
  const now = service.clock.now();
  const fromAt = from ? new Date(Math.max(from.getTime(), keptSince(service))) : now;
  return {
    id: newId("rpl", now.getTime()),
    sourceId,
    accountId,
    status: "running",
    receivedIds: [...new Set(ids)].sort(),
    eventTypes,
    rate,
    fromAt,
    toAt: to && to < now ? to : now,
    total: 0,
    published: 0,
    missing: 0,
    positionAt: fromAt,
    positionId: "",
    createdAt: now,
    finishedAt: null,
  };
}

const exampleId = "rpl_01kbdq4v00e8w9x2m5n7p3r6tz";
const base = `${sourcePath}/replays` as const;
const one = `${base}/:replay_id` as const;
const missing = "There is no such replay.";

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
  const exampleIds = { id: webhookSourceExample.id, replay_id: exampleId };
  const fields = {
    ReceivedWebhookReplay: {
      ...betweenFields,
      ids: ({ receivedIds }: Replay) => orAll(receivedIds),
      eventTypes: ({ eventTypes }: Replay) => orAll(eventTypes),
    },
  };
  return edgesOf({ ...reads(service), ...writes(service) }, { exampleIds, fields });
}

function reads(service: IngestService) {
  const { replayEngine, pageLimits } = service;
  return {
    receivedWebhookReplays: listBelow({
      summary: "List the replays of a source, newest first",
      description: "A replay publishes webhooks that were received again.",
      auth: webhooksRead,
      limits: pageLimits,
      of: ownSource(service),
      read: (range, sourceIds, { caller }) => replayEngine.list(range, caller.accountId, { parentIds: sourceIds }),
      parentId: ({ sourceId }) => sourceId,
      rest: { get: base, item: ReplayResource, view: viewReplay },
      graph: { field: "replays" },
    }),
    receivedWebhookReplay: record({
      summary: "Read a replay and its progress",
      description: "State, selection and number of items so far.",
      auth: webhooksRead,
      find: ({ caller, params }) => replayEngine.find(params.replay_id, caller.accountId, params.id),
      missing,
      rest: { get: one, resource: ReplayResource, answer: (replay) => ok(viewReplay(replay)) },
    }),
  };
}

function writes(service: IngestService) {
  return {
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
        post: base,
        responses: { 200: ReplayCount, 202: ReplayResource },
        idempotent: true,
        answer: (result) =>
          result.outcome === "started" ? accepted(viewReplay(result.replay)) : ok({ count: result.count }),
      },
      graph: {
        payload: {
          replay: (result) => (result.outcome === "started" ? result.replay : null),
          count: (result) => (result.outcome === "counted" ? result.count : null),
        },
        type: "ReceivedWebhookReplayPayload",
        names: { id: "sourceId" },
      },
    }),
    cancelReceivedWebhookReplay: operation({
      summary: "Cancel a replay",
      description: "Webhooks that are already published stay published.",
      auth: webhooksWrite,
      audit: "webhook_source.cancel_replay",
      of: {
        find: (tx, { caller, params }) => service.replayEngine.lock(tx, params.replay_id, caller.accountId, params.id),
        missing,
      },
      change: (tx, replay, { caller }) => cancelReplay(service, tx, caller, replay),
      rest: {
        post: `${one}/cancel`,
        responses: { 200: ReplayResource },
        idempotent: true,
        answer: (replay) => ok(viewReplay(replay)),
      },
      graph: { payload: "replay", type: "ReceivedWebhookReplayPayload", names: { id: "sourceId", replay_id: "id" } },
    }),
  };
}
