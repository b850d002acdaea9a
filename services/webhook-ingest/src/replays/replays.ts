import type { Caller } from "@signalbox/auth";
import { AppError, newId } from "@signalbox/core";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { IngestService } from "../context/ingest-service.ts";
import { countReceived, existingReceived, keptSince, type ReceivedChoice } from "../received/received-store.ts";
import type { Source } from "../sources/source.ts";
import type { Replay, ReplayChoice } from "./replay.ts";

export interface NewReplay {
  readonly choice: ReplayChoice;
  /** Webhooks per second. */
  readonly rate: number;
  /** Counts the webhooks and publishes nothing. */
  readonly dryRun: boolean;
}

/** Largest number of webhooks of one replay. */
const totalMax = 1_000_000;

/**
 * Starts a replay, for subscribers that lost webhooks or could not read them; a dry run counts its webhooks.
 * @throws AppError `validation_error` for unknown ids
 */
export async function startReplay(
  service: IngestService,
  tx: Tx,
  caller: Caller,
  source: Source,
  { choice, rate, dryRun }: NewReplay,
) {
  const { pool, clock, replayEngine } = service;
  const started = newReplay(source, choice, rate, { now: clock.now(), oldestMs: keptSince(service) });
  if ("ids" in choice) await assertThere(service, source, started.receivedIds);
  const total = "ids" in choice ? started.receivedIds.length : await countReceived(pool, choiceOf(started), totalMax);
  const entry = audited(caller, { action: "webhook_source.replay", subject: source.id });
  return replayEngine.start(tx, source.id, { ...started, total }, { totalMax, dryRun, entry });
}

/** Cancels a replay; published webhooks stay published. */
export const cancelReplay = (
  { replayEngine }: IngestService,
  tx: Tx,
  caller: Caller,
  replay: Replay,
): Promise<Replay> =>
  replayEngine.cancel(
    tx,
    replay,
    audited(caller, { action: "webhook_source.cancel_replay", subject: replay.sourceId }),
  );

/** Returns the choice of received webhooks that a replay by time publishes. */
export const choiceOf = ({ sourceId, eventTypes, fromAt, toAt }: Replay): ReceivedChoice => ({
  sourceId,
  eventTypes,
  fromMs: fromAt.getTime(),
  toMs: toAt.getTime(),
});

async function assertThere({ pool }: IngestService, { id }: Source, ids: readonly string[]): Promise<void> {
  const there = await existingReceived(pool, id, ids);
  const message = "The source received no webhook of this id, or it is past the retention.";
  const details = ids.flatMap((one) =>
    there.has(one) ? [] : [{ field: "ids", code: "invalid_value" as const, message: `${one}: ${message}` }],
  );
  if (details.length === 0) return;
  throw new AppError("validation_error", "Some of these webhooks do not exist.", { details: details.slice(0, 20) });
}

interface Moment {
  readonly now: Date;
  /** Beginning of what is kept. */
  readonly oldestMs: number;
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
function boundsOf({ from, to }: Extract<ReplayChoice, { from: Date }>, { now, oldestMs }: Moment) {
  const toMs = Math.min(to?.getTime() ?? now.getTime(), now.getTime());
  return { fromAt: new Date(Math.max(from.getTime(), oldestMs)), toAt: new Date(toMs) };
}
