import type { Caller } from "@signalbox/auth";
import { type Clock, newId } from "@signalbox/core";
import { createReplayEngine, type Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Pool, RetentionRule, Tx } from "@signalbox/storage";
import { requireScopeOf } from "../endpoints/endpoint.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import { type Replay, type ReplayFilter, replayKind } from "./replay.ts";
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

export type Replays = ReturnType<typeof createReplays>;

/** Creates the operations on replays. */
export function createReplays({ pool, endpointStore, outbox, clock, deliveriesMax, wake }: ReplayDependencies) {
  const engine = createReplayEngine(replayKind, { pool, outbox, clock });
  return {
    ...engine,

    /** Starts a replay of the matching deliveries, or counts them, up to as many as one may have. */
    async start(tx: Tx, caller: Caller, filter: ReplayFilter, rate: number | null, dryRun: boolean) {
      const { accountId } = caller;
      const endpoint = await endpointStore.lock(tx, accountId, filter.endpointId);
      if (endpoint === null) return { outcome: "no-endpoint" } as const;
      requireScopeOf(endpoint, caller);
      const totalMax = deliveriesMax();
      const total = await countWanted(tx, filter, dryRun ? totalMax : totalMax + 1);
      const at = clock.now();
      const replay: Replay = {
        ...{ ...filter, id: newId("whr", at.getTime()), accountId, rate, status: "running", total, replayed: 0 },
        ...{ placeTime: filter.fromTime, placeId: "", createdAt: at, endedAt: null },
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

export type ReplayOutcome = Awaited<ReturnType<Replays["start"]>>;

/** Retention of replays: their deliveries are gone by then. */
export const replayRetention = (keepMs: () => number): RetentionRule => ({
  name: "trim replays",
  table: "replays",
  column: "created_at",
  keepMs,
});
