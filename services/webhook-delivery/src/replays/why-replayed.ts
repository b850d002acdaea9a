import type { WhyStep } from "@signalbox/contracts";
import { timeOfPublicId } from "@signalbox/core";
import { expiredReason, hasPrefix, stepsOf, stepsOfReplay, type WhyFinder } from "@signalbox/service";
import type { DeliveryService } from "../context/delivery-service.ts";
import { chainEndpoints, deliveriesOfReplay } from "../deliveries/chain-store.ts";
import type { Replay } from "./replay.ts";
import { findReplay } from "./replays.ts";

const step = stepsOf("webhook-delivery");
const shownMax = 5;

/** Finds how far replays have come, for the chain behind an id. */
export const whyReplayed = (service: DeliveryService): readonly WhyFinder[] => [
  {
    scopes: ["webhooks:read"],
    knows: hasPrefix("whr"),
    async find({ accountId }, id) {
      const replay = await findReplay(service, { accountId }, id);
      if (replay === null) return null;
      const { endpointId, createdAt } = replay;
      const endpoints = endpointId ? [endpointId] : (await chainEndpoints(service, accountId)).map((one) => one.id);
      const next = await deliveriesOfReplay(service, endpoints, id, createdAt, shownMax);
      return { steps: viewReplay(replay), next };
    },
    missing(id) {
      const ms = timeOfPublicId(id) ?? 0;
      const reason = expiredReason(ms, service.configuration.get("webhook-delivery.retention"));
      return step({ at: new Date(ms), id, what: "The replay is no longer kept.", verdict: "hole", reason });
    },
  },
];

function viewReplay(replay: Replay): WhyStep[] {
  const { id, endpointId, total, leftOut, replayed } = replay;
  const of = endpointId === null ? "all endpoints" : `the endpoint ${endpointId}`;
  const rest = leftOut > 0 ? ` It leaves out ${leftOut} of endpoints that are not enabled.` : "";
  return stepsOfReplay(step, {
    ...replay,
    link: `/api/v1/webhooks/replays/${id}`,
    started: `A replay of ${total} deliveries of ${of} was started.${rest}`,
    progress: `${replayed} of ${total} deliveries are queued`,
  });
}
