import { matchesEventType, type WhyStep } from "@signalbox/contracts";
import { eventsAbout, hasPrefix, linkTo, stepsOf, type WhyFinder } from "@signalbox/service";
import { sql } from "@signalbox/storage";
import type { IngestService } from "../context/ingest-service.ts";
import { listReceived } from "../received/received-store.ts";
import type { Replay } from "./replay.ts";

const step = stepsOf("webhook-ingest");
const findSource = sql(
  "why.source-of-replay",
  `select source_id as "sourceId" from received_replays where id = $1 and account_id = $2`,
);
/** Webhooks of a replay that a chain goes on with. */
const shownMax = 5;

/** Finds how far replays of received webhooks have come, for the chain behind an id. */
export const whyReplayed = (service: IngestService): readonly WhyFinder[] => [
  {
    scopes: ["webhooks:read"],
    knows: hasPrefix("rpl"),
    async find({ accountId }, id) {
      const [place] = (await service.pool.query<{ sourceId: string }>(findSource, [id, accountId])).rows;
      const replay = place ? await service.replayEngine.find(id, accountId, place.sourceId) : null;
      if (replay === null) return null;
      const chosen = await chosenBy(service, replay);
      return { steps: stepsOfReplay(replay), next: chosen.flatMap((one) => [linkTo(one), eventsAbout(one)]) };
    },
  },
];

/** Lists some of the webhooks of a replay. */
async function chosenBy(service: IngestService, replay: Replay): Promise<string[]> {
  const { sourceId, receivedIds, eventTypes, fromAt: since, toAt: until } = replay;
  if (receivedIds.length > 0) return receivedIds.slice(0, shownMax);
  const between = await listReceived(service, [sourceId], { after: null, limit: shownMax }, { since, until });
  const isChosen = (type: string | null) =>
    eventTypes.length === 0 || (type !== null && eventTypes.some((filter) => matchesEventType(filter, type)));
  return between.filter(({ eventType }) => isChosen(eventType)).map(({ id }) => id);
}

function stepsOfReplay(replay: Replay): WhyStep[] {
  const { id, sourceId, status, total, published, missing, createdAt, finishedAt } = replay;
  const link = `/api/v1/webhooks/sources/${sourceId}/replays/${id}`;
  const what = `A replay of ${total} webhooks of the source ${sourceId} was started.`;
  const started = step({ at: createdAt, id, what, link });
  const counts = `${published} of ${total} webhooks are published again, ${missing} were not kept any more`;
  if (status === "running") {
    const reason = "waiting: for its next step";
    return [started, step({ at: null, id, what: `${counts}.`, verdict: "waiting", reason, link })];
  }
  const ended = status === "completed" ? "ended" : "was cancelled";
  return [started, step({ at: finishedAt, id, what: `The replay ${ended}: ${counts}.`, link })];
}
