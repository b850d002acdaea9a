import { minutes } from "@signalbox/core";
import type { ReplayStep } from "@signalbox/events";
import { dayMs, startOfDay, type Tx } from "@signalbox/storage";
import { schemeOf } from "@signalbox/webhook-signatures";
import type { IngestService } from "../context/ingest-service.ts";
import { decodeBody } from "../judging/decode-body.ts";
import { fittingPayload, readPayload } from "../judging/read-payload.ts";
import { findManyReceived, nextReceived, type StoredWebhookInFull } from "../received/received-store.ts";
import { type Payload, webhookReceived } from "../received/received-webhook.ts";
import type { Source } from "../sources/source.ts";
import { mayReceive } from "../sources/source-access.ts";
import { findSource } from "../sources/source-store.ts";
import type { Replay } from "./replay.ts";
import { choiceOf } from "./replays.ts";
import { stepSize } from "./source-replays.ts";

/** Largest number of day tables that one statement reads. */
const windowDays = 7;

/** Publishes the next few webhooks of a replay, or waits while the account may publish none. */
export async function publishStep(service: IngestService, tx: Tx, replay: Replay): Promise<ReplayStep<Replay>> {
  const source = await findSource(service, replay.accountId, replay.sourceId);
  if (source === null || !mayReceive(service, replay.accountId)) return { waitMs: minutes(1) };
  const { webhooks, isLast, ...position } = await nextOf(service, replay);
  const payloads = await Promise.all(webhooks.map((webhook) => payloadOf(service, source, webhook)));
  const events = webhooks.map((webhook, nth) =>
    webhookReceived(source, { ...webhook, payload: payloads[nth] as Payload }, { isReplay: true }),
  );
  await service.outbox.append(tx, events);
  const count = webhooks.length;
  return { replay: { ...replay, ...position, published: replay.published + count }, count, isLast };
}

async function nextOf({ pool }: IngestService, replay: Replay) {
  const limit = stepSize(replay);
  const { positionAt, positionId, receivedIds, published, missing } = replay;
  if (receivedIds.length > 0) {
    const handled = published + missing;
    const ids = receivedIds.slice(handled, handled + limit);
    const webhooks = await findManyReceived(pool, replay.sourceId, ids);
    const isLast = handled + ids.length >= receivedIds.length;
    return { webhooks, missing: missing + ids.length - webhooks.length, positionAt, positionId, isLast };
  }
  const choice = choiceOf(replay);
  const windowEndMs = Math.min(choice.toMs, startOfDay(positionAt.getTime()) + windowDays * dayMs);
  const window = { ...choice, fromMs: positionAt.getTime(), toMs: windowEndMs };
  const webhooks = await nextReceived(pool, window, { at: positionAt, id: positionId }, limit);
  const last = webhooks.at(-1);
  const isWindowDone = webhooks.length < limit;
  const position = isWindowDone || !last ? { at: new Date(windowEndMs), id: "" } : { at: last.receivedAt, id: last.id };
  const isLast = isWindowDone && windowEndMs >= choice.toMs;
  return { webhooks, missing, positionAt: position.at, positionId: position.id, isLast };
}

/** Reads the bytes as at their arrival. A body that the current source could not read goes out as bytes. */
async function payloadOf({ configuration }: IngestService, source: Source, webhook: StoredWebhookInFull) {
  const { headers, body, bodyDecoded, contentType } = webhook;
  const coding = bodyDecoded ? undefined : headers["content-encoding"]?.toString();
  const decoding = await decodeBody(body, coding, configuration.get("limits.maxWebhookBytes"));
  if ("problem" in decoding && decoding.problem === "size") return { bytes: body };
  const { payload } = readPayload(decoding, contentType, schemeOf(source.scheme, source.settings));
  return fittingPayload(payload, decoding.body, configuration.get("events.message.max-bytes"));
}
