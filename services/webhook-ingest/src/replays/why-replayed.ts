import { matchesEventType, type WhyStep } from "@signalbox/contracts";
import { eventsAbout, linkTo, stepsOf, stepsOfReplay, type WhyFinder } from "@signalbox/service";
import { type Statement, sql } from "@signalbox/storage";
import type { IngestService } from "../context/ingest-service.ts";
import { listReceived } from "../received/received-store.ts";
import { finderOf } from "../received/why-received.ts";
import { listRejections } from "../rejections/rejection-store.ts";
import type { RejectionRetry, Replay } from "./replay.ts";

const step = stepsOf("webhook-ingest");
const sourceIn = (table: string) =>
  sql(`why.source-in-${table}`, `select source_id as "sourceId" from ${table} where id = $1 and account_id = $2`);
const sourceOfReplay = sourceIn("received_replays");
const sourceOfRetry = sourceIn("rejection_retries");
/** Webhooks of a replay, or rejections of a retry, that a chain goes on with. */
const shownMax = 5;

/** Finds how far replays of received webhooks and retries of rejections have come, for the chain behind an id. */
export const whyReplayed = (service: IngestService): readonly WhyFinder[] => [
  finderOf("rpl", async (accountId, id) => {
    const sourceId = await findSource(service, sourceOfReplay, id, accountId);
    const replay = sourceId && (await service.replayEngine.find(id, accountId, sourceId));
    if (!replay) return null;
    const chosen = await chosenBy(service, replay);
    return { steps: viewReplay(replay), next: chosen.flatMap((one) => [linkTo(one), eventsAbout(one)]) };
  }),
  finderOf("rtr", async (accountId, id) => {
    const sourceId = await findSource(service, sourceOfRetry, id, accountId);
    const retry = sourceId && (await service.retryEngine.find(id, accountId, sourceId));
    if (!retry) return null;
    const { reason, fromAt: from, toAt: to } = retry;
    const filter = { from, to, reason: reason ?? undefined };
    const found = await listRejections(service.pool, [sourceId], { after: null, limit: shownMax }, filter);
    return { steps: viewRetry(retry), next: found.map((one) => linkTo(one.id)) };
  }),
];

async function findSource({ pool }: IngestService, statement: Statement, id: string, accountId: string) {
  const [found] = (await pool.query<{ sourceId: string }>(statement, [id, accountId])).rows;
  return found?.sourceId ?? null;
}

async function chosenBy(service: IngestService, replay: Replay): Promise<string[]> {
  const { sourceId, receivedIds, eventTypes, fromAt: from, toAt: to } = replay;
  if (receivedIds.length > 0) return receivedIds.slice(0, shownMax);
  const between = await listReceived(service, [sourceId], { after: null, limit: shownMax }, { from, to });
  const isChosen = (type: string | null) =>
    eventTypes.length === 0 || (type !== null && eventTypes.some((filter) => matchesEventType(filter, type)));
  return between.filter(({ eventType }) => isChosen(eventType)).map(({ id }) => id);
}

function viewReplay(replay: Replay): WhyStep[] {
  const { id, sourceId, total, published, missing, finishedAt } = replay;
  return stepsOfReplay(step, {
    ...replay,
    endedAt: finishedAt,
    link: `/api/v1/webhooks/sources/${sourceId}/replays/${id}`,
    started: `A replay of ${total} webhooks of the source ${sourceId} was started.`,
    progress: `${published} of ${total} webhooks are published again, ${missing} were not kept any more`,
  });
}

function viewRetry(retry: RejectionRetry): WhyStep[] {
  const { id, sourceId, reason, total, received, repeated, refused, finishedAt } = retry;
  return stepsOfReplay(step, {
    ...retry,
    noun: "retry",
    endedAt: finishedAt,
    link: `/api/v1/webhooks/sources/${sourceId}/rejection-retries/${id}`,
    started: `A retry of ${total} rejections of the source ${sourceId}${reason ? ` with ${reason}` : ""} was started.`,
    progress: `of ${total} rejections ${received} are received, ${repeated} had been received, ${refused} are refused again`,
  });
}
