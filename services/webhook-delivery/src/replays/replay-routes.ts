import { examples, identifier, timestamp } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
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
  refusedWith,
} from "@signalbox/http";
import { z } from "zod";
import { refusedReplay } from "../refusals.ts";
import { type Replay, type ReplayFilter, replayedStatuses, replayStatuses } from "./replay.ts";
import type { ReplayOutcome, Replays } from "./replays.ts";

export interface ReplayRoutes {
  readonly replays: Replays;
  readonly clock: Clock;
  readonly pageLimits: PageLimits;
}

const example = {
  id: "whr_01kdzq7c9p4r6s8t0v2w5x7y1z",
  endpoint_id: "whe_01kdzq5a7m2n4p6q8r0s1t3v5w",
  statuses: ["exhausted" as const],
  event_types: ["order.*"],
  event_ids: [],
  from: "2026-01-01T09:00:00.000Z",
  to: "2026-01-01T11:00:00.000Z",
  rate: 50,
  status: "running" as const,
  total: 12_000,
  replayed: 350,
  created_at: "2026-01-01T12:00:00.000Z",
  ended_at: null,
};

const ReplayResource = z
  .object({
    id: identifier("The replay, sent as `X-Replay-Id`"),
    endpoint_id: identifier("The endpoint"),
    statuses: z.array(z.enum(replayedStatuses)),
    event_types: z.array(z.string()).describe("Empty for all."),
    event_ids: z.array(z.string()).describe("Empty for all."),
    from: timestamp,
    to: timestamp,
    rate: z.int().nullable().describe("Deliveries per second; null for no limit."),
    status: z.enum(replayStatuses),
    total: z.int().describe("Number of matching deliveries at its start."),
    replayed: z.int().describe("Number of deliveries queued so far."),
    created_at: timestamp,
    ended_at: timestamp.nullable(),
  })
  .meta({ id: "WebhookReplay" })
  .register(examples, { example });

const CountedResource = z
  .object({ count: z.int() })
  .meta({ id: "WebhookReplayCount" })
  .register(examples, { example: { count: 12_000 } });

const time = z.iso.datetime().transform((text) => new Date(text));

/** Body of a new replay; GraphQL takes the same. */
export const StartReplayBody = z
  .strictObject({
    endpoint_id: z.string().min(1).max(64),
    status: z.enum(replayedStatuses).optional().describe("Default: every delivery that has ended."),
    event_types: z.array(z.string().min(1).max(200)).max(50).default([]),
    event_ids: z.array(z.string().min(1).max(128)).max(1_000).default([]),
    from: time.describe("Deliveries of events at this time or later."),
    to: time.optional().describe("Deliveries of events before this time. Default: now."),
    rate: z.int().min(1).max(1_000).nullable().default(null).describe("Deliveries per second."),
    dry_run: z.boolean().default(false).describe("Only counts the deliveries."),
  })
  .refine(({ from, to }) => to === undefined || from <= to, {
    path: ["to"],
    error: "to must not be earlier than from.",
  })
  .meta({ id: "StartWebhookReplay" })
  .register(examples, {
    example: { endpoint_id: example.endpoint_id, status: "exhausted", from: example.from, to: example.to, rate: 50 },
  });

/** Builds the filter of a replay; it never includes future events. */
export function filterOf(body: z.output<typeof StartReplayBody>, now: Date): ReplayFilter {
  const { endpoint_id: endpointId, status, event_types: eventTypes, event_ids: eventIds, from: fromTime, to } = body;
  const toTime = to === undefined || to > now ? now : to;
  return { endpointId, statuses: status ? [status] : replayedStatuses, eventTypes, eventIds, fromTime, toTime };
}

const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;
const base = "/api/v1/webhooks/replays";

/** REST routes of replays. */
export function replayRoutes(parts: ReplayRoutes): Routes {
  const routes = createRoutes({ exampleIds: { id: example.id } });
  declareReads(routes, parts);
  declareWrites(routes, parts);
  return routes;
}

function declareReads(routes: Routes, { replays, pageLimits }: ReplayRoutes): void {
  routes.get(base, {
    operationId: "webhookReplays",
    summary: "List replays, newest first",
    auth: read,
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(ReplayResource) },
    handle: ({ caller, query }) => listPage(query, (range) => replays.list(range, caller.accountId), viewReplay),
  });

  routes.get(`${base}/:id`, {
    operationId: "webhookReplay",
    summary: "Read a replay and its progress",
    auth: read,
    responses: { 200: ReplayResource, 404: "error" },
    async handle({ caller, params }) {
      const replay = await replays.find(params.id, caller.accountId);
      return replay ? ok(viewReplay(replay)) : refused(404, "not_found");
    },
  });
}

function declareWrites(routes: Routes, { replays, clock }: ReplayRoutes): void {
  routes.post(base, {
    operationId: "startWebhookReplay",
    summary: "Replay deliveries that succeeded, were exhausted or parked",
    description:
      "Deliveries of one endpoint, the oldest first, under their own ids: up to a million, unless `webhook-delivery.replays.deliveries-max` says otherwise. With `dry_run` they are only counted. One replay of an endpoint runs at a time.",
    auth: write,
    audit: "webhook_endpoint.replay",
    body: StartReplayBody,
    responses: { 200: CountedResource, 202: ReplayResource, 404: "error", 409: "error", 422: "error" },
    idempotent: true,
    create: {
      run: (tx, { caller, body }) => replays.start(tx, caller, filterOf(body, clock.now()), body.rate, body.dry_run),
      answer: answerOfStart,
    },
  });

  routes.post(`${base}/:id/cancel`, {
    operationId: "cancelWebhookReplay",
    summary: "Cancel a replay; deliveries already queued go out",
    auth: write,
    audit: "webhook_endpoint.cancel_replay",
    responses: { 200: ReplayResource, 404: "error" },
    idempotent: true,
    write: {
      find: (tx, { caller, params }) => replays.lock(tx, params.id, caller.accountId),
      change: (tx, replay, { caller }) => replays.cancel(tx, caller, replay),
      answer: (replay) => ok(viewReplay(replay)),
    },
  });
}

const viewReplay = (replay: Replay) => ({
  id: replay.id,
  endpoint_id: replay.endpointId,
  statuses: [...replay.statuses],
  event_types: [...replay.eventTypes],
  event_ids: [...replay.eventIds],
  from: replay.fromTime.toISOString(),
  to: replay.toTime.toISOString(),
  rate: replay.rate,
  status: replay.status,
  total: replay.total,
  replayed: replay.replayed,
  created_at: replay.createdAt.toISOString(),
  ended_at: replay.endedAt?.toISOString() ?? null,
});

function answerOfStart(result: ReplayOutcome): HttpResponse {
  if (result.outcome === "started") return accepted(viewReplay(result.replay));
  if (result.outcome === "counted") return ok({ count: result.count });
  return refusedWith(refusedReplay(result));
}
