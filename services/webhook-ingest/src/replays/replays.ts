import type { Caller } from "@signalbox/auth";
import { AppError, newId } from "@signalbox/core";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { IngestService } from "../context/ingest-service.ts";
import { missingReceived } from "../received/received-api.ts";
import { countReceived, existingReceived, keptSince, type ReceivedChoice } from "../received/received-store.ts";
import type { Source } from "../sources/source.ts";
import type { Replay } from "./replay.ts";

/** Input of a new replay: webhooks by their ids, or by their time and types. */
export interface NewReplay {
  readonly ids: readonly string[] | null;
  readonly from: Date | null;
  /** Null for now. */
  readonly to: Date | null;
  readonly eventTypes: readonly string[];
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
export async function startReplay(service: IngestService, tx: Tx, caller: Caller, source: Source, wanted: NewReplay) {
  const { pool, replayEngine } = service;
  const started = newReplay(service, source, wanted);
  const { receivedIds } = started;
  if (wanted.ids) await assertThere(service, source, receivedIds);
  const total = wanted.ids ? receivedIds.length : await countReceived(pool, choiceOf(started), totalMax);
  const entry = audited(caller, { action: "webhook_source.replay", subject: source.id });
  return replayEngine.start(tx, source.id, { ...started, total }, { totalMax, dryRun: wanted.dryRun, entry });
}

/** Cancels a replay; published webhooks stay published. */
export function cancelReplay({ replayEngine }: IngestService, tx: Tx, caller: Caller, replay: Replay) {
  const entry = audited(caller, { action: "webhook_source.cancel_replay", subject: replay.sourceId });
  return replayEngine.cancel(tx, replay, entry);
}

/** Returns the choice of received webhooks that a replay by time publishes. */
export const choiceOf = ({ sourceId, eventTypes, fromAt, toAt }: Replay): ReceivedChoice => ({
  sourceId,
  eventTypes,
  fromMs: fromAt.getTime(),
  toMs: toAt.getTime(),
});

async function assertThere({ pool }: IngestService, { id }: Source, ids: readonly string[]): Promise<void> {
  const there = await existingReceived(pool, id, ids);
  const details = ids.flatMap((one) =>
    there.has(one) ? [] : [{ field: "ids", code: "invalid_value" as const, message: `${one}: ${missingReceived}` }],
  );
  if (details.length === 0) return;
  throw new AppError("validation_error", "Some of these webhooks do not exist.", { details: details.slice(0, 20) });
}

/** Creates the replay in its first state, with its times limited to the retention and to the present. */
function newReplay(
  service: IngestService,
  { id: sourceId, accountId }: Source,
  { ids, from, to, eventTypes, rate }: NewReplay,
): Replay {
  const now = service.clock.now();
  const fromAt = from ? new Date(Math.max(from.getTime(), keptSince(service))) : now;
  return {
    id: newId("rpl", now.getTime()),
    sourceId,
    accountId,
    status: "running",
    receivedIds: [...new Set(ids)].sort(),
    eventTypes,
    rate,
    fromAt,
    toAt: to && to < now ? to : now,
    total: 0,
    published: 0,
    missing: 0,
    positionAt: fromAt,
    positionId: "",
    createdAt: now,
    finishedAt: null,
  };
}
