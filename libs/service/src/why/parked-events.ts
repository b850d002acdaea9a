import type { ServiceName } from "@signalbox/core";
import { parkedKeys } from "@signalbox/events";
import type { Pool } from "@signalbox/storage";
import { stepsOf, type WhyFinder } from "./why-routes.ts";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Finds the consumers of this service that have parked an event of the caller's, by its id. */
export function whyParked(service: ServiceName, pool: Pool): WhyFinder {
  const step = stepsOf(service);
  return {
    scopes: [],
    knows: (id) => uuid.test(id),
    async find({ accountId }, id) {
      const parked = await parkedKeys.findEvent(pool, accountId, id);
      if (parked.length === 0) return null;
      const steps = parked.map(({ consumer, attempt, parkedAt, nextAt }) => {
        const after = `after ${attempt} tries, the next at ${nextAt?.toISOString()}`;
        const reason = `parked: ${nextAt === null ? "behind an earlier message of its key" : after}`;
        const what = `The consumer ${consumer} of ${service} parked the event.`;
        return step({ at: parkedAt, id, what, verdict: "waiting", reason });
      });
      return { steps, next: [] };
    },
  };
}
