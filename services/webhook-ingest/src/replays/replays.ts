import type { Caller } from "@signalbox/auth";
import { AppError, type Clock, newId } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { startOfDay, type Tx } from "@signalbox/storage";
import type { ReceivedStore } from "../receiving/received-store.ts";
import type { Source } from "../sources/source.ts";
import { choiceOf, type Replay, type ReplayChoice } from "./replay.ts";
import type { ReplayStore } from "./replay-store.ts";

interface Dependencies {
  readonly replayStore: Pick<ReplayStore, "insert" | "save" | "lockCount">;
  readonly receivedStore: Pick<ReceivedStore, "existing" | "count">;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** How long received webhooks are kept. */
  readonly keepMs: () => number;
}

export interface NewReplay {
  readonly choice: ReplayChoice;
  /** So many a second. */
  readonly rate: number;
  /** Counts and publishes nothing. */
  readonly dryRun: boolean;
}

/** The most webhooks of one replay. */
const totalMax = 1_000_000;
/** Replays of one source that run at once. */
const runningMax = 3;

export type Replays = ReturnType<typeof createReplays>;

/** Publishes again what a source received: for subscribers that lost it, or could not read it then. */
export function createReplays({ replayStore, receivedStore, outbox, clock, keepMs }: Dependencies) {
  return {
    /** Starts a replay; a dry run tells what it would publish. @throws AppError `validation_error` for ids that are not there. */
    async create(tx: Tx, caller: Caller, source: Source, { choice, rate, dryRun }: NewReplay) {
      const begun = begin(source, choice, rate, { now: clock.now(), keepMs: keepMs() });
      if ("ids" in choice) await assertThere(source, begun.receivedIds);
      const total = "ids" in choice ? begun.receivedIds.length : await receivedStore.count(choiceOf(begun), totalMax);
      if (total > totalMax) return { outcome: "too-many", max: totalMax } as const;
      if (dryRun) return { outcome: "counted", count: total } as const;
      if ((await replayStore.lockCount(tx, source.id)) >= runningMax) {
        return { outcome: "limit-reached", max: runningMax } as const;
      }
      const replay = { ...begun, total };
      await replayStore.insert(tx, replay);
      await outbox.append(tx, [audited(caller, { action: "webhook_source.replay", subject: source.id })]);
      return { outcome: "created", replay } as const;
    },

    /** Ends a replay; what it has published stays published. One that has ended stays as it is. */
    async cancel(tx: Tx, caller: Caller, replay: Replay): Promise<Replay> {
      if (replay.status !== "running") return replay;
      const cancelled = { ...replay, status: "cancelled", finishedAt: clock.now() } as const;
      await replayStore.save(tx, cancelled);
      const entry = audited(caller, { action: "webhook_source.cancel_replay", subject: replay.sourceId });
      await outbox.append(tx, [entry]);
      return cancelled;
    },
  };

  async function assertThere({ id }: Source, ids: readonly string[]): Promise<void> {
    const there = await receivedStore.existing(id, ids);
    const message = "The source received no webhook of this id, or it is past the retention.";
    const details = ids.flatMap((one) =>
      there.has(one) ? [] : [{ field: "ids", code: "invalid_value" as const, message: `${one}: ${message}` }],
    );
    if (details.length === 0) return;
    throw new AppError("validation_error", "Some of these webhooks are not there.", { details: details.slice(0, 20) });
  }
}

interface Moment {
  readonly now: Date;
  readonly keepMs: number;
}

/** The replay as it begins. */
function begin({ id: sourceId, accountId }: Source, choice: ReplayChoice, rate: number, moment: Moment): Replay {
  const { now } = moment;
  const receivedIds = "ids" in choice ? [...new Set(choice.ids)].sort() : [];
  const { fromAt, toAt } = "ids" in choice ? { fromAt: now, toAt: now } : boundsOf(choice, moment);
  return {
    ...{ id: newId("rpl", now.getTime()), sourceId, accountId, status: "running", receivedIds, rate, fromAt, toAt },
    ...{ eventTypes: "ids" in choice ? [] : choice.eventTypes, total: 0, published: 0, missing: 0 },
    ...{ positionAt: fromAt, positionId: "", createdAt: now, finishedAt: null },
  };
}

/** No day before the retention is looked into, and nothing that comes after the request is part of it. */
function boundsOf({ from, to }: Extract<ReplayChoice, { from: Date }>, { now, keepMs }: Moment) {
  const oldestMs = startOfDay(now.getTime() - keepMs);
  const toMs = Math.min(to?.getTime() ?? now.getTime(), now.getTime());
  return { fromAt: new Date(Math.max(from.getTime(), oldestMs)), toAt: new Date(toMs) };
}
