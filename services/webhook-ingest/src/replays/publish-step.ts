import { minutes } from "@signalbox/core";
import type { Outbox, ReplayStep } from "@signalbox/events";
import { dayMs, startOfDay, type Tx } from "@signalbox/storage";
import { schemeOf } from "@signalbox/webhook-signatures";
import { decodeBody } from "../receiving/decode-body.ts";
import { type Payload, webhookReceived } from "../receiving/delivery.ts";
import type { Judge } from "../receiving/judge-webhook.ts";
import { fittingPayload, readPayload } from "../receiving/read-payload.ts";
import type { ReceivedStore, StoredDelivery } from "../receiving/received-store.ts";
import type { Source } from "../sources/source.ts";
import type { SourceStore } from "../sources/source-store.ts";
import { choiceOf, type Replay } from "./replay.ts";

interface Dependencies {
  readonly receivedStore: Pick<ReceivedStore, "findMany" | "next">;
  readonly sourceStore: Pick<SourceStore, "find">;
  readonly outbox: Pick<Outbox, "append">;
  readonly judge: Pick<Judge, "webhookBytesMax" | "eventBytesMax" | "mayWrite">;
}

export type PublishStep = ReturnType<typeof createPublishStep>;

/** Webhooks of one transaction: some twenty mebibytes of the largest ones. */
const stepMax = 20;
/** Largest number of day tables that one statement reads. */
const windowDays = 7;

/** Creates the step of a replay: publishes its next few webhooks, or waits while the account may publish none. */
export function createPublishStep(dependencies: Dependencies) {
  const { sourceStore, outbox, judge } = dependencies;
  return async (tx: Tx, replay: Replay): Promise<ReplayStep<Replay>> => {
    const source = await sourceStore.find(replay.accountId, replay.sourceId);
    if (source === null || !judge.mayWrite(replay.accountId)) return { waitMs: minutes(1) };
    const { webhooks, isLast, ...position } = await nextOf(replay, dependencies);
    const payloads = await Promise.all(webhooks.map((webhook) => payloadOf(source, webhook, judge)));
    const events = webhooks.map((webhook, nth) =>
      webhookReceived(source, { ...webhook, payload: payloads[nth] as Payload }, { isReplay: true }),
    );
    await outbox.append(tx, events);
    const count = webhooks.length;
    return { replay: { ...replay, ...position, published: replay.published + count }, count, isLast };
  };
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
  { webhookBytesMax, eventBytesMax }: Dependencies["judge"],
): Promise<Payload> {
  const coding = bodyDecoded ? undefined : headers["content-encoding"]?.toString();
  const decoding = await decodeBody(body, coding, webhookBytesMax());
  const decoded = "body" in decoding ? decoding.body : body;
  const reading = readPayload(decoded, contentType, schemeOf(source.scheme, source.settings));
  return "payload" in reading ? fittingPayload(reading.payload, decoded, eventBytesMax) : { bytes: decoded };
}
