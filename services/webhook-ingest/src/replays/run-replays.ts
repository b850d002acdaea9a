import { type Clock, minutes, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { Runner } from "@signalbox/runtime";
import { dayMs, inTransaction, type Pool, startOfDay, type Tx } from "@signalbox/storage";
import { schemeOf } from "@signalbox/webhook-signatures";
import { decodeBody } from "../receiving/decode-body.ts";
import type { Payload } from "../receiving/delivery.ts";
import { fittingPayload, readPayload } from "../receiving/read-payload.ts";
import type { ReceivedStore, StoredDelivery } from "../receiving/received-store.ts";
import { webhookReceived } from "../receiving/webhook-received.ts";
import type { Source } from "../sources/source.ts";
import type { SourceStore } from "../sources/source-store.ts";
import { choiceOf, type Replay } from "./replay.ts";
import type { ReplayStore } from "./replay-store.ts";

interface Dependencies {
  readonly runner: Pick<Runner, "every">;
  readonly pool: Pool;
  readonly replayStore: Pick<ReplayStore, "lockDue" | "save" | "postpone" | "keepPace">;
  readonly receivedStore: Pick<ReceivedStore, "findMany" | "next">;
  readonly sourceStore: Pick<SourceStore, "find">;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
  readonly webhookBytesMax: () => number;
  readonly eventBytesMax: number;
  /** Returns true when the account may publish webhooks now. */
  readonly mayWrite: (accountId: string) => boolean;
}

/** Webhooks of one transaction: some twenty mebibytes of the largest ones. */
const stepMax = 20;
const everyMs = seconds(1);
/** Largest number of day tables that one statement reads. */
const windowDays = 7;

/**
 * Starts the worker of replays. Each step publishes a few webhooks in one transaction with their events, so that a
 * crash neither repeats nor loses any.
 */
export function startReplays(dependencies: Dependencies): void {
  const { runner, pool } = dependencies;
  runner.every("replays", everyMs, () => inTransaction(pool, (tx) => step(tx, dependencies)));
}

async function step(tx: Tx, dependencies: Dependencies): Promise<"again" | "done"> {
  const { replayStore, sourceStore, outbox, clock, mayWrite } = dependencies;
  const replay = await replayStore.lockDue(tx);
  if (replay === null) return "done";
  const source = await sourceStore.find(replay.accountId, replay.sourceId);
  if (source === null || !mayWrite(replay.accountId)) {
    await replayStore.postpone(tx, replay, minutes(1));
    return "again";
  }
  const { webhooks, ...after } = await nextOf(replay, dependencies);
  const payloads = await Promise.all(webhooks.map((webhook) => payloadOf(source, webhook, dependencies)));
  const events = webhooks.map((webhook, nth) =>
    webhookReceived(source, { ...webhook, payload: payloads[nth] as Payload }, { isReplay: true }),
  );
  await outbox.append(tx, events);
  const published = replay.published + webhooks.length;
  const ending = after.isLast ? { status: "completed" as const, finishedAt: clock.now() } : {};
  await replayStore.save(tx, { ...replay, ...after, ...ending, published });
  await replayStore.keepPace(tx, replay, (webhooks.length * 1_000) / replay.rate);
  return "again";
}

/** Returns the next webhooks of a replay, and the position after them. */
async function nextOf(replay: Replay, { receivedStore }: Dependencies) {
  const limit = Math.min(stepMax, Math.max(1, Math.ceil(replay.rate / 10)));
  const { positionAt, positionId, receivedIds, published, missing } = replay;
  if (receivedIds.length > 0) {
    const handled = published + missing;
    const ids = receivedIds.slice(handled, handled + limit);
    const webhooks = await receivedStore.findMany(replay.sourceId, ids);
    const isLast = handled + ids.length >= receivedIds.length;
    return { webhooks, missing: missing + ids.length - webhooks.length, positionAt, positionId, isLast };
  }
  const choice = choiceOf(replay);
  const windowEndMs = Math.min(choice.toMs, startOfDay(positionAt.getTime()) + windowDays * dayMs);
  const window = { ...choice, fromMs: positionAt.getTime(), toMs: windowEndMs };
  const webhooks = await receivedStore.next(window, { at: positionAt, id: positionId }, limit);
  const last = webhooks.at(-1);
  const isWindowDone = webhooks.length < limit;
  const position = isWindowDone || !last ? { at: new Date(windowEndMs), id: "" } : { at: last.receivedAt, id: last.id };
  const isLast = isWindowDone && windowEndMs >= choice.toMs;
  return { webhooks, missing, positionAt: position.at, positionId: position.id, isLast };
}

/** Reads the bytes as at their arrival. A body that the current source could not read goes out as bytes. */
async function payloadOf(
  source: Source,
  { headers, body, bodyDecoded, contentType }: StoredDelivery,
  { webhookBytesMax, eventBytesMax }: Pick<Dependencies, "webhookBytesMax" | "eventBytesMax">,
): Promise<Payload> {
  const coding = bodyDecoded ? undefined : headers["content-encoding"]?.toString();
  const decoding = await decodeBody(body, coding, webhookBytesMax());
  const decoded = "body" in decoding ? decoding.body : body;
  const reading = readPayload(decoded, contentType, schemeOf(source.scheme, source.settings));
  return "payload" in reading ? fittingPayload(reading.payload, decoded, eventBytesMax) : { bytes: decoded };
}
