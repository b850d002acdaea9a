import type { Caller, Viewer } from "@signalbox/auth";
import { type Clock, newId } from "@signalbox/core";
import { createReplayEngine, type Outbox } from "@signalbox/events";
import type { PageLimits } from "@signalbox/graphql";
import { accepted, ok } from "@signalbox/http";
import { audited, type Edges, edgesOf, type Load, list, operation, record } from "@signalbox/service";
import type { Pool, RetentionRule, Tx } from "@signalbox/storage";
import { type Endpoint, requireScopeOf } from "../endpoints/endpoint.ts";
import { endpointsSeen, seen } from "../endpoints/endpoint-id.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import {
  CountedResource,
  filterOf,
  type Replay,
  type ReplayFilter,
  ReplayResource,
  replayExample,
  replayKind,
  StartReplayBody,
  viewReplay,
} from "./replay.ts";
import { countWanted, queueStep } from "./replayed-deliveries.ts";

interface ReplayDependencies {
  readonly pool: Pool;
  readonly endpointStore: Pick<EndpointStore, "lock">;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** Largest number of deliveries of one replay. */
  readonly deliveriesMax: () => number;
  /** Wakes the worker, because a delivery is due. */
  readonly wake: () => void;
}

const endpointIdOf = ({ endpointId }: Replay): string => endpointId;

export type Replays = ReturnType<typeof createReplays>;

/** Creates the operations on replays. */
export function createReplays({ pool, endpointStore, outbox, clock, deliveriesMax, wake }: ReplayDependencies) {
  const engine = createReplayEngine(replayKind, { pool, outbox, clock });
  return {
    ...engine,
    find: async (viewer: Viewer, id: string) => seen(viewer, await engine.find(id, viewer.accountId), endpointIdOf),
    lock: async (tx: Tx, viewer: Viewer, id: string) =>
      seen(viewer, await engine.lock(tx, id, viewer.accountId), endpointIdOf),

    /** Starts a replay of the matching deliveries, or counts them, up to as many as one may have. */
    async start(tx: Tx, caller: Caller, filter: ReplayFilter, rate: number | null, dryRun: boolean) {
      const { accountId } = caller;
      const endpoint = await endpointStore.lock(tx, caller, filter.endpointId);
      if (endpoint === null) return { outcome: "no-endpoint" } as const;
      requireScopeOf(endpoint, caller);
      const totalMax = deliveriesMax();
      const total = await countWanted(tx, filter, dryRun ? totalMax : totalMax + 1);
      const at = clock.now();
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
      return engine.start(tx, endpoint.id, replay, { totalMax, dryRun, entry });
    },

    /** Cancels a replay; deliveries already queued go out. */
    cancel(tx: Tx, caller: Caller, replay: Replay): Promise<Replay> {
      const entry = audited(caller, { action: "webhook_endpoint.cancel_replay", subject: replay.endpointId });
      return engine.cancel(tx, replay, entry);
    },

    /** Queues the next deliveries of a replay that is due; returns "again" while there may be more. */
    step: () =>
      engine.step(async (tx, replay) => {
        const step = await queueStep(tx, replay);
        if ("replay" in step) tx.afterCommit(wake);
        return step;
      }),
  };
}

/** Retention of replays: their deliveries are gone by then. */
export const replayRetention = (keepMs: () => number): RetentionRule => ({
  name: "trim replays",
  table: "replays",
  column: "created_at",
  keepMs,
});

interface ReplayApi {
  readonly replays: Replays;
  readonly clock: Clock;
  readonly loadEndpoint: Load<Endpoint>;
  readonly pageLimits: PageLimits;
}

const base = "/api/v1/webhooks/replays";
const one = `${base}/:id` as const;
const showReplay = (replay: Replay) => ok(viewReplay(replay));
const read = { scopes: ["webhooks:read"], portal: true } as const;
const write = { scopes: ["webhooks:write"], portal: true } as const;
const missing = "There is no such replay.";

/** The replays of an account, at both edges. */
export function replayApi(parts: ReplayApi): Edges {
  const { loadEndpoint } = parts;
  return edgesOf(
    { ...declareReads(parts), ...declareWrites(parts) },
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

function declareReads({ replays, pageLimits }: ReplayApi) {
  return {
    webhookReplays: list({
      summary: "List replays, newest first",
      description: "A replay sends deliveries of an endpoint again.",
      auth: read,
      limits: pageLimits,
      read: (range, { caller }) => replays.list(range, caller.accountId, { of: endpointsSeen(caller) }),
      rest: { get: base, item: ReplayResource, view: viewReplay },
    }),
    webhookReplay: record({
      summary: "Read a replay and its progress",
      description: "State, selection and number of items so far.",
      auth: read,
      find: ({ caller, params }) => replays.find(caller, params.id),
      missing,
      rest: { get: one, resource: ReplayResource, answer: showReplay },
    }),
  };
}

function declareWrites({ replays, clock }: ReplayApi) {
  return {
    startWebhookReplay: operation({
      summary: "Replay deliveries that succeeded, were exhausted or parked",
      description:
        "Deliveries of one endpoint, the oldest first, under their own ids: up to a million, unless `webhook-delivery.replays.deliveries-max` says otherwise. With `dry_run` they are only counted. One replay of an endpoint runs at a time.",
      auth: write,
      audit: "webhook_endpoint.replay",
      input: StartReplayBody,
      create: (tx, { caller, input }) =>
        replays.start(tx, caller, filterOf(input, clock.now()), input.rate, input.dry_run),
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
      of: { find: (tx, { caller, params }) => replays.lock(tx, caller, params.id), missing },
      change: (tx, replay, { caller }) => replays.cancel(tx, caller, replay),
      rest: { post: `${one}/cancel`, responses: { 200: ReplayResource }, idempotent: true, answer: showReplay },
      graph: { payload: "webhookReplay" },
    }),
  };
}
