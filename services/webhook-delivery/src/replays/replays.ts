import type { Caller } from "@signalbox/auth";
import { type Clock, newId, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import { requireScopeOf } from "../endpoints/endpoint.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import type { Replay, ReplayFilter } from "./replay.ts";
import type { ReplayStore } from "./replay-store.ts";

interface ReplayDependencies {
  readonly pool: Pool;
  readonly replayStore: ReplayStore;
  readonly endpointStore: Pick<EndpointStore, "lock">;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** Largest number of deliveries of one replay. */
  readonly deliveriesMax: () => number;
  /** Wakes the worker, because a delivery is due. */
  readonly wake: () => void;
}

export type ReplayOutcome =
  | { readonly outcome: "started"; readonly replay: Replay }
  | { readonly outcome: "counted"; readonly count: number }
  | { readonly outcome: "no-endpoint" | "running" }
  | { readonly outcome: "too-many"; readonly max: number };

/**
 * Queued deliveries of an endpoint beyond which a replay waits, because queued ones go out even after it is cancelled.
 */
const queuedMax = 1_000;
/** Deliveries of one step, in one transaction, without a rate. */
const stepMax = 500;
const stepMs = seconds(1);

export type Replays = ReturnType<typeof createReplays>;

/**
 * Creates the operations on replays. A replay runs in steps, each in one transaction, so that it continues after any
 * interruption.
 */
export function createReplays(dependencies: ReplayDependencies) {
  const { pool, replayStore, endpointStore, outbox, clock, deliveriesMax } = dependencies;
  return {
    /** Starts a replay of the matching deliveries, or counts them. */
    async start(
      tx: Tx,
      caller: Caller,
      filter: ReplayFilter,
      rate: number | null,
      dryRun: boolean,
    ): Promise<ReplayOutcome> {
      const { accountId } = caller;
      const endpoint = await endpointStore.lock(tx, accountId, filter.endpointId);
      if (endpoint === null) return { outcome: "no-endpoint" };
      requireScopeOf(endpoint, caller);
      const max = deliveriesMax();
      const total = await replayStore.countWanted(tx, filter, max + 1);
      if (dryRun) return { outcome: "counted", count: Math.min(total, max) };
      if (total > max) return { outcome: "too-many", max };
      if (await replayStore.isRunning(tx, endpoint.id)) return { outcome: "running" };
      const at = clock.now();
      const replay: Replay = {
        ...{ ...filter, id: newId("whr", at.getTime()), accountId, rate, status: "running", total, replayed: 0 },
        ...{ placeTime: filter.fromTime, placeId: "", createdAt: at, endedAt: null },
      };
      await replayStore.insert(tx, replay);
      await outbox.append(tx, [audited(caller, { action: "webhook_endpoint.replay", subject: endpoint.id })]);
      return { outcome: "started", replay };
    },

    /** Cancels a replay; deliveries already queued go out. An ended replay stays as it is. */
    async cancel(tx: Tx, caller: Caller, replay: Replay): Promise<Replay> {
      if (replay.status !== "running") return replay;
      const cancelled = { ...replay, status: "cancelled", endedAt: clock.now() } as const;
      await replayStore.save(tx, cancelled, 0);
      const entry = audited(caller, { action: "webhook_endpoint.cancel_replay", subject: replay.endpointId });
      await outbox.append(tx, [entry]);
      return cancelled;
    },

    /** Runs one step of a due replay; returns "again" while there may be another. */
    async step(): Promise<"again" | "done"> {
      return inTransaction(pool, (tx) => stepOf(dependencies, tx));
    },
  };
}

async function stepOf({ replayStore, clock, wake }: ReplayDependencies, tx: Tx): Promise<"again" | "done"> {
  const replay = await replayStore.lockDue(tx);
  if (replay === null) return "done";
  const room = queuedMax - (await replayStore.countQueued(tx, replay.endpointId, queuedMax));
  const limit = Math.min(room, replay.rate ?? stepMax);
  if (limit <= 0) {
    await replayStore.save(tx, replay, stepMs);
    return "again";
  }
  const apartUs = replay.rate === null ? 1 : Math.floor(1_000_000 / replay.rate);
  const { count, placeTime, placeId } = await replayStore.queueNext(tx, replay, limit, apartUs);
  const isOver = count < limit;
  const stepped = {
    ...replay,
    status: isOver ? "done" : "running",
    replayed: replay.replayed + count,
    placeTime: placeTime ?? replay.placeTime,
    placeId: placeId ?? replay.placeId,
    endedAt: isOver ? clock.now() : null,
  } as const;
  await replayStore.save(tx, stepped, replay.rate === null ? 0 : stepMs);
  tx.afterCommit(wake);
  return "again";
}
