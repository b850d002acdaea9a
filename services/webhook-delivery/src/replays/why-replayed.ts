import type { WhyStep } from "@signalbox/contracts";
import { timeOfPublicId } from "@signalbox/core";
import { expiredReason, hasPrefix, stepsOf, type WhyFinder } from "@signalbox/service";
import type { DeliveryService } from "../context/delivery-service.ts";
import { deliveriesOfReplay } from "../deliveries/chain-deliveries.ts";
import type { Replay } from "./replay.ts";
import { findReplay } from "./replays.ts";

const step = stepsOf("webhook-delivery");
/** Deliveries of a replay that a chain goes on with. */
const shownMax = 5;

/** Finds how far replays have come, for the chain behind an id. */
export const whyReplayed = (service: DeliveryService): readonly WhyFinder[] => [
  {
    scopes: ["webhooks:read"],
    knows: hasPrefix("whr"),
    async find({ accountId }, id) {
      const replay = await findReplay(service, { accountId }, id);
      if (replay === null) return null;
      const next = await deliveriesOfReplay(service, replay.endpointId, id, replay.createdAt, shownMax);
      return { steps: stepsOfReplay(replay), next };
    },
    missing(id) {
      const ms = timeOfPublicId(id) ?? 0;
      const reason = expiredReason(ms, service.configuration.get("webhook-delivery.retention"));
      return step({ at: new Date(ms), id, what: "The replay is not kept any more.", verdict: "hole", reason });
    },
  },
];

function stepsOfReplay({ id, endpointId, status, total, replayed, createdAt, endedAt }: Replay): WhyStep[] {
  const link = `/api/v1/webhooks/replays/${id}`;
  const what = `A replay of ${total} deliveries of the endpoint ${endpointId} was started.`;
  const started = step({ at: createdAt, id, what, link });
  if (status === "running") {
    const progress = `${replayed} of ${total} deliveries are queued.`;
    return [
      started,
      step({ at: null, id, what: progress, verdict: "waiting", reason: "waiting: for its next step", link }),
    ];
  }
  const ended = status === "done" ? "ended" : "was cancelled";
  return [started, step({ at: endedAt, id, what: `The replay ${ended} with ${replayed} deliveries queued.`, link })];
}
