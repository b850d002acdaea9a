import type { Caller } from "@signalbox/auth";
import { AppError, type Clock, newId } from "@signalbox/core";
import { createReplayEngine, type Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { type Pool, startOfDay, type Tx } from "@signalbox/storage";
import type { ReceivedStore } from "../receiving/received-store.ts";
import type { Source } from "../sources/source.ts";
import { choiceOf, type Replay, type ReplayChoice, replayKind } from "./replay.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly receivedStore: Pick<ReceivedStore, "existing" | "count">;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** Retention of received webhooks. */
  readonly keepMs: () => number;
}

export interface NewReplay {
  readonly choice: ReplayChoice;
  /** Webhooks per second. */
  readonly rate: number;
  /** Counts the webhooks and publishes nothing. */
  readonly dryRun: boolean;
}

/** Largest number of webhooks of one replay. */
const totalMax = 1_000_000;

export type Replays = ReturnType<typeof createReplays>;

/** Creates the operations on replays, for subscribers that lost webhooks or could not read them. */
export function createReplays({ pool, receivedStore, outbox, clock, keepMs }: Dependencies) {
  const engine = createReplayEngine(replayKind, { pool, outbox, clock });
  return {
    ...engine,

    /**
     * Starts a replay; a dry run counts its webhooks.
     * @throws AppError `validation_error` for unknown ids
     */
    async create(tx: Tx, caller: Caller, source: Source, { choice, rate, dryRun }: NewReplay) {
      const started = newReplay(source, choice, rate, { now: clock.now(), keepMs: keepMs() });
      if ("ids" in choice) await assertThere(source, started.receivedIds);
      const total =
        "ids" in choice ? started.receivedIds.length : await receivedStore.count(choiceOf(started), totalMax);
      const entry = audited(caller, { action: "webhook_source.replay", subject: source.id });
      return engine.start(tx, source.id, { ...started, total }, { totalMax, dryRun, entry });
    },

    /** Cancels a replay; published webhooks stay published. */
    cancel: (tx: Tx, caller: Caller, replay: Replay): Promise<Replay> =>
      engine.cancel(tx, replay, audited(caller, { action: "webhook_source.cancel_replay", subject: replay.sourceId })),
  };

  async function assertThere({ id }: Source, ids: readonly string[]): Promise<void> {
    const there = await receivedStore.existing(id, ids);
    const message = "The source received no webhook of this id, or it is past the retention.";
    const details = ids.flatMap((one) =>
      there.has(one) ? [] : [{ field: "ids", code: "invalid_value" as const, message: `${one}: ${message}` }],
    );
    if (details.length === 0) return;
    throw new AppError("validation_error", "Some of these webhooks do not exist.", { details: details.slice(0, 20) });
  }
}

interface Moment {
  readonly now: Date;
  readonly keepMs: number;
}

/** Creates the replay in its first state. */
function newReplay({ id: sourceId, accountId }: Source, choice: ReplayChoice, rate: number, moment: Moment): Replay {
  const { now } = moment;
  const receivedIds = "ids" in choice ? [...new Set(choice.ids)].sort() : [];
  const { fromAt, toAt } = "ids" in choice ? { fromAt: now, toAt: now } : boundsOf(choice, moment);
  return {
    id: newId("rpl", now.getTime()),
    sourceId,
    accountId,
    status: "running",
    receivedIds,
    eventTypes: "ids" in choice ? [] : choice.eventTypes,
    rate,
    fromAt,
    toAt,
    total: 0,
    published: 0,
    missing: 0,
    positionAt: fromAt,
    positionId: "",
    createdAt: now,
    finishedAt: null,
  };
}

/** Limits the times to the retention and to the present. */
function boundsOf({ from, to }: Extract<ReplayChoice, { from: Date }>, { now, keepMs }: Moment) {
  const oldestMs = startOfDay(now.getTime() - keepMs);
  const toMs = Math.min(to?.getTime() ?? now.getTime(), now.getTime());
  return { fromAt: new Date(Math.max(from.getTime(), oldestMs)), toAt: new Date(toMs) };
}
