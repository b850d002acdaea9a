import { examples, identifier, timeInput, timestamp, viewOf, webhookSourceExample } from "@signalbox/contracts";
import { accepted, ok, type Resolvers } from "@signalbox/http";
import { type Edges, edgesOf, listBelow, operation, record, tooMany } from "@signalbox/service";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import { lockedSource, ownSource } from "../sources/own-source.ts";
import type { Replay } from "./replay.ts";
import { cancelReplay, type NewReplay, startReplay } from "./replays.ts";

const exampleId = "rpl_01kbdq4v00e8w9x2m5n7p3r6tz";
const base = "/api/v1/webhooks/sources/:id/replays";
const one = `${base}/:replay_id` as const;
const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;
const missing = "There is no such replay.";

/** Body of a new replay: webhooks by their ids, or by their time. */
const CreateReplayBody = z
  .strictObject({
    ids: z.array(z.string().max(64)).min(1).max(1_000).optional().describe("The received webhooks to publish again."),
    from: timeInput.optional().describe("Instead of ids: webhooks received at this time or later."),
    to: timeInput.optional().describe("Webhooks received before this time. Default: now."),
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
  .refine(({ from, to }) => from === undefined || to === undefined || Date.parse(from) <= Date.parse(to), {
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
  ids: orAll(replay.receivedIds),
  event_types: orAll(replay.eventTypes),
  from: replay.fromAt.toISOString(),
  to: replay.toAt.toISOString(),
}));

const replayFields: Resolvers = {
  ReceivedWebhookReplay: {
    ids: ({ receivedIds }: Replay) => orAll(receivedIds),
    eventTypes: ({ eventTypes }: Replay) => orAll(eventTypes),
    from: ({ fromAt }: Replay) => fromAt,
    to: ({ toAt }: Replay) => toAt,
  },
};

/** The replays of a source, at both edges. */
export function replayApi(service: IngestService): Edges {
  const exampleIds = { id: webhookSourceExample.id, replay_id: exampleId };
  return edgesOf({ ...reads(service), ...writes(service) }, { exampleIds, fields: replayFields });
}

function reads(service: IngestService) {
  const { replayEngine, pageLimits } = service;
  return {
    receivedWebhookReplays: listBelow({
      summary: "List the replays of a source, newest first",
      description: "A replay publishes webhooks that were received again.",
      auth: read,
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
      auth: read,
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
      auth: write,
      audit: "webhook_source.replay",
      input: CreateReplayBody,
      of: lockedSource(service),
      change: (tx, source, { caller, input }) => startReplay(service, tx, caller, source, newReplayOf(input)),
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
      auth: write,
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

/** Converts the body of a request. Only a choice by time has types and an end. */
function newReplayOf(body: z.output<typeof CreateReplayBody>): NewReplay {
  const { ids, from, to, event_types: eventTypes = [], rate, dry_run: dryRun } = body;
  return { ids: ids ?? null, from: dateOf(from), to: dateOf(to), eventTypes, rate, dryRun };
}

const dateOf = (text: string | undefined): Date | null => (text === undefined ? null : new Date(text));
