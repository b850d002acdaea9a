import { examples, identifier, timestamp, webhookSourceExample } from "@signalbox/contracts";
import type { PageLimits } from "@signalbox/graphql";
import {
  accepted,
  createRoutes,
  type HttpResponse,
  listPage,
  ok,
  pageOf,
  pageParameters,
  type Routes,
  refused,
} from "@signalbox/http";
import { z } from "zod";
import type { SourceStore } from "../sources/source-store.ts";
import { viewReplay } from "./replay.ts";
import type { NewReplay, ReplayOutcome, Replays } from "./replays.ts";

const exampleId = "rpl_01kbdq4v00e8w9x2m5n7p3r6tz";
const path = "/api/v1/webhooks/sources/:id/replays";
const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;

/** Body of a new replay: webhooks by their ids, or by their time. */
export const CreateReplayBody = z
  .strictObject({
    ids: z.array(z.string().max(64)).min(1).max(1_000).optional().describe("The received webhooks to publish again."),
    from: z.iso
      .datetime({ offset: true })
      .optional()
      .describe("Instead of ids: webhooks received at this time or later."),
    to: z.iso.datetime({ offset: true }).optional().describe("Webhooks received before this time. Default: now."),
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
  .meta({ id: "CreateReceivedWebhookReplay", anyOf: [{ required: ["ids"] }, { required: ["from"] }] })
  .register(examples, { example: { from: "2026-01-01T09:00:00.000Z", event_types: ["order.*"], rate: 50 } });

const ReplayResource = z
  .object({
    id: identifier("The replay"),
    source_id: identifier("The source"),
    status: z.enum(["running", "completed", "cancelled"]),
    total: z.int().describe("Number of chosen webhooks at its start."),
    published: z.int(),
    missing: z.int().describe("Number of webhooks chosen by id that were past the retention when their turn came."),
    rate: z.int().describe("Webhooks published per second."),
    ids: z.array(z.string()).nullable(),
    event_types: z.array(z.string()).nullable(),
    from: timestamp,
    to: timestamp,
    created_at: timestamp,
    finished_at: timestamp.nullable(),
  })
  .meta({ id: "ReceivedWebhookReplay" })
  .register(examples, {
    example: {
      ...{ id: exampleId, source_id: webhookSourceExample.id, status: "running", total: 1_200, published: 300 },
      ...{ missing: 0, rate: 50, ids: null, event_types: ["order.*"] },
      ...{ from: "2026-01-01T09:00:00.000Z", to: "2026-01-02T09:00:00.000Z" },
      ...{ created_at: "2026-01-02T09:00:00.000Z", finished_at: null },
    },
  });

const ReplayCount = z
  .object({ count: z.int().describe("Number of webhooks that would be published.") })
  .meta({ id: "ReceivedWebhookReplayCount" })
  .register(examples, { example: { count: 1_200 } });

export interface ReplayRoutes {
  readonly sourceStore: SourceStore;
  readonly replays: Replays;
  readonly pageLimits: PageLimits;
}

/** REST routes of replays. */
export function replayRoutes(parts: ReplayRoutes): Routes {
  const routes = createRoutes({ exampleIds: { id: webhookSourceExample.id, replay_id: exampleId } });
  declareReads(routes, parts);
  declareWrites(routes, parts);
  return routes;
}

function declareReads(routes: Routes, { sourceStore, replays, pageLimits }: ReplayRoutes): void {
  routes.get(path, {
    operationId: "receivedWebhookReplays",
    summary: "List the replays of a source, newest first",
    auth: read,
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(ReplayResource), 404: "error" },
    async handle({ caller: { accountId }, params: { id }, query }) {
      if ((await sourceStore.find(accountId, id)) === null) return refused(404, "not_found");
      return listPage(query, (range) => replays.list(range, accountId, [id]), viewReplay);
    },
  });
  routes.get(`${path}/:replay_id`, {
    operationId: "receivedWebhookReplay",
    summary: "Read a replay and its progress",
    auth: read,
    responses: { 200: ReplayResource, 404: "error" },
    async handle({ caller, params }) {
      const replay = await replays.find(params.replay_id, caller.accountId, params.id);
      return replay ? ok(viewReplay(replay)) : refused(404, "not_found");
    },
  });
}

function declareWrites(routes: Routes, { sourceStore, replays }: ReplayRoutes): void {
  routes.post(path, {
    operationId: "createReceivedWebhookReplay",
    summary: "Publish received webhooks again",
    description:
      "Publishes them in the order of their arrival, with `replay_of` in their events. Endpoints get them as new events; a dry run counts them.",
    auth: write,
    audit: "webhook_source.replay",
    body: CreateReplayBody,
    responses: { 200: ReplayCount, 202: ReplayResource, 404: "error", 409: "error", 422: "error" },
    idempotent: true,
    write: {
      find: (tx, { caller, params }) => sourceStore.lock(tx, caller.accountId, params.id),
      change: (tx, source, { caller, body }) => replays.create(tx, caller, source, newReplayOf(body)),
      answer: answerOfCreate,
    },
  });
  routes.post(`${path}/:replay_id/cancel`, {
    operationId: "cancelReceivedWebhookReplay",
    summary: "Cancel a replay",
    description: "Webhooks that are already published stay published.",
    auth: write,
    audit: "webhook_source.cancel_replay",
    responses: { 200: ReplayResource, 404: "error" },
    idempotent: true,
    write: {
      find: (tx, { caller, params }) => replays.lock(tx, params.replay_id, caller.accountId, params.id),
      change: (tx, replay, { caller }) => replays.cancel(tx, caller, replay),
      answer: (replay) => ok(viewReplay(replay)),
    },
  });
}

/** Converts the body of a request. */
export function newReplayOf(body: z.output<typeof CreateReplayBody>): NewReplay {
  const { ids, from, to, event_types: eventTypes = [], rate, dry_run: dryRun } = body;
  if (ids !== undefined) return { choice: { ids }, rate, dryRun };
  return {
    choice: { from: new Date(from ?? 0), to: to === undefined ? null : new Date(to), eventTypes },
    rate,
    dryRun,
  };
}

function answerOfCreate(result: ReplayOutcome): HttpResponse {
  if (result.outcome === "started") return accepted(viewReplay(result.replay));
  if (result.outcome === "counted") return ok({ count: result.count });
  return refused(409, "conflict", replayRefusal(result));
}

/** Describes why a replay cannot start, for REST and GraphQL. */
export function replayRefusal({ outcome, max }: Exclude<ReplayOutcome, { outcome: "started" | "counted" }>) {
  const message =
    outcome === "too-many"
      ? `A replay has at most ${max} webhooks; choose a shorter time.`
      : `A source has at most ${max} replays at once; wait until one ends, or cancel it.`;
  return {
    message,
    details: [{ field: outcome === "too-many" ? "from" : "replays", code: "too_many" as const, message }],
  };
}
