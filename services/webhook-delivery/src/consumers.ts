import { catalogue, type EventName } from "@signalbox/contracts";
import type { ConsumerTable, Handler } from "@signalbox/events";
import type { Verbs } from "./service.ts";

/**
 * What this service does when it hears of what others did: a delivery for whoever subscribed. Custom events are not
 * here, because their deliveries are written together with them.
 */
export function createConsumerTable({ scheduleDeliveries, endpointWrites }: Verbs): ConsumerTable {
  const schedule: Handler<EventName> = (event, { tx }) => scheduleDeliveries(tx, event);
  const subscribable = catalogue.filter(({ audience }) => audience === "account").map(({ name }) => [name, schedule]);
  return {
    ...Object.fromEntries(subscribable),
    "account.deleted": async (event, { tx }) => {
      await endpointWrites.removeAllOf(tx, event.subject);
    },
  };
}
