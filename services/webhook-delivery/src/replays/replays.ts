import type { Caller, Viewer } from "@signalbox/auth";
import { newId } from "@signalbox/core";
import { accepted, ok } from "@signalbox/http";
import { audited, type Edges, edgesOf, type Load, list, operation, record } from "@signalbox/service";
import type { RetentionRule, Tx } from "@signalbox/storage";
import type { z } from "zod";
import type { DeliveryService } from "../context/delivery-service.ts";
import { type Endpoint, requireScopeOf } from "../endpoints/endpoint.ts";
import { endpointsSeen, seen } from "../endpoints/endpoint-id.ts";
import { lockEndpoint } from "../endpoints/endpoint-store.ts";
import {
  CountedResource,
  filterOf,
  type Replay,
  ReplayResource,
  replayExample,
  StartReplayBody,
  viewReplay,
} from "./replay.ts";
import { countWanted, queueStep } from "./replayed-deliveries.ts";

const endpointIdOf = ({ endpointId }: Replay): string => endpointId;

export const findReplay = async (
  { replayEngine }: DeliveryService,
  viewer: Viewer,
  id: string,
): Promise<Replay | null> => seen(viewer, await replayEngine.find(id, viewer.accountId), endpointIdOf);

const lockReplay = async (
  { replayEngine }: DeliveryService,
  tx: Tx,
  viewer: Viewer,
  id: string,
): Promise<Replay | null> => seen(viewer, await replayEngine.lock(tx, id, viewer.accountId), endpointIdOf);

/** Starts a replay of the matching deliveries, or counts them, up to as many as one may have. */
async function startReplay(
  { configuration, clock, replayEngine }: DeliveryService,
  tx: Tx,
  caller: Caller,
  { rate, dry_run: dryRun, ...given }: z.output<typeof StartReplayBody>,
) {
  const { accountId } = caller;
  const at = clock.now();
  const filter = filterOf(given, at);
  const endpoint = await lockEndpoint(tx, caller, filter.endpointId);
  if (endpoint === null) return { outcome: "no-endpoint" } as const;
  requireScopeOf(endpoint, caller);
  const totalMax = configuration.get("webhook-delivery.replays.deliveries-max");
  const total = await countWanted(tx, filter, dryRun ? totalMax : totalMax + 1);
  const replay: Replay = {
    ...filter,
    id: newId("whr", at.getTime()),
    accountId,
    rate,
    status: "running",
    total,
    replayed: 0,
    placeTime: filter.fromTime,
    placeId: "",
    createdAt: at,
    endedAt: null,
  };
  const entry = audited(caller, { action: "webhook_endpoint.replay", subject: endpoint.id });
  return replayEngine.start(tx, endpoint.id, replay, { totalMax, dryRun, entry });
}

/** Cancels a replay; deliveries already queued go out. */
function cancelReplay({ replayEngine }: DeliveryService, tx: Tx, caller: Caller, replay: Replay): Promise<Replay> {
  const entry = audited(caller, { action: "webhook_endpoint.cancel_replay", subject: replay.endpointId });
  return replayEngine.cancel(tx, replay, entry);
}

/** Queues the next deliveries of a replay that is due; returns "again" while there may be more. */
export const runReplays = ({ replayEngine, wakeUp }: DeliveryService): Promise<"again" | "done"> =>
  replayEngine.step(async (tx, replay) => {
    const step = await queueStep(tx, replay);
    if ("replay" in step) tx.afterCommit(wakeUp.wake);
    return step;
  });

/** Retention of replays: their deliveries are gone by then. */
export const replayRetention = (keepMs: () => number): RetentionRule => ({
  name: "trim replays",
  table: "replays",
  column: "created_at",
  keepMs,
});

const base = "/api/v1/webhooks/replays";
const one = `${base}/:id` as const;
const showReplay = (replay: Replay) => ok(viewReplay(replay));
const read = { scopes: ["webhooks:read"], portal: true } as const;
const write = { scopes: ["webhooks:write"], portal: true } as const;
const missing = "There is no such replay.";

/** The replays of an account, at both edges. */
export function replayApi(service: DeliveryService, loadEndpoint: Load<Endpoint>): Edges {
  return edgesOf(
    { ...declareReads(service), ...declareWrites(service) },
    {
      exampleIds: { id: replayExample.id },
      fields: {
        WebhookReplay: {
          endpoint: ({ endpointId }: Replay, _, context) => loadEndpoint(context, endpointId),
          from: ({ fromTime }: Replay) => fromTime,
          to: ({ toTime }: Replay) => toTime,
        },
      },
    },
  );
}

function declareReads(service: DeliveryService) {
  const { replayEngine, pageLimits } = service;
  return {
    webhookReplays: list({
      summary: "List replays, newest first",
      description: "A replay sends deliveries of an endpoint again.",
      auth: read,
      limits: pageLimits,
      read: (range, { caller }) => replayEngine.list(range, caller.accountId, { of: endpointsSeen(caller) }),
      rest: { get: base, item: ReplayResource, view: viewReplay },
    }),
    webhookReplay: record({
      summary: "Read a replay and its progress",
      description: "State, selection and number of items so far.",
      auth: read,
      find: ({ caller, params }) => findReplay(service, caller, params.id),
      missing,
      rest: { get: one, resource: ReplayResource, answer: showReplay },
    }),
  };
}

function declareWrites(service: DeliveryService) {
  return {
    startWebhookReplay: operation({
      summary: "Replay deliveries that succeeded, were exhausted or parked",
      description:
        "Deliveries of one endpoint, the oldest first, under their own ids: up to a million, unless `webhook-delivery.replays.deliveries-max` says otherwise. With `dry_run` they are only counted. One replay of an endpoint runs at a time.",
      auth: write,
      audit: "webhook_endpoint.replay",
      input: StartReplayBody,
      create: (tx, { caller, input }) => startReplay(service, tx, caller, input),
      refusals: {
        "no-endpoint": { code: "not_found", message: "There is no such endpoint." },
        "limit-reached": {
          code: "conflict",
          message: "A replay of this endpoint is running: wait for it, or cancel it.",
        },
        "too-many": ({ max }) => {
          const message = `More than ${max} deliveries match: choose a shorter time.`;
          return { code: "validation_error", message, details: [{ field: "from", code: "too_big", message }] };
        },
      },
      rest: {
        post: base,
        responses: { 200: CountedResource, 202: ReplayResource, 422: "error" },
        idempotent: true,
        answer: (result) =>
          result.outcome === "started" ? accepted(viewReplay(result.replay)) : ok({ count: result.count }),
      },
      graph: {
        payload: {
          webhookReplay: (result) => (result.outcome === "started" ? result.replay : null),
          count: (result) => (result.outcome === "counted" ? result.count : null),
        },
        type: "StartWebhookReplayPayload",
      },
    }),
    cancelWebhookReplay: operation({
      summary: "Cancel a replay; deliveries already queued go out",
      description: "A replay that has ended is 409.",
      auth: write,
      audit: "webhook_endpoint.cancel_replay",
      of: { find: (tx, { caller, params }) => lockReplay(service, tx, caller, params.id), missing },
      change: (tx, replay, { caller }) => cancelReplay(service, tx, caller, replay),
      rest: { post: `${one}/cancel`, responses: { 200: ReplayResource }, idempotent: true, answer: showReplay },
      graph: { payload: "webhookReplay" },
    }),
  };
}
