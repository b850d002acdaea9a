import { catalogue, type EventName } from "@signalbox/contracts";
import type { BatchHandler, ConsumerTable, Handler } from "@signalbox/events";
import type { OpenedService } from "@signalbox/service";
import type { DeliveryService } from "./context/delivery-service.ts";
import { deleteEndpointsOf } from "./endpoints/removals.ts";
import { outgoingEventOf } from "./events/outgoing-event.ts";
import { fanOut } from "./publishing/fan-out.ts";

export function consumers(service: DeliveryService, consume: OpenedService["consume"]): void {
  const batchHandler: BatchHandler = async (events, { tx }) => {
    const outgoing = events.map(outgoingEventOf).filter((event) => event !== null);
    await fanOut(service, tx, outgoing);
    for (const { name, subject } of events)
      if (name === "account.deleted") await deleteEndpointsOf(service, tx, subject);
  };
  const single: Handler<EventName> = (event, context) => batchHandler([event], context);
  const names = catalogue.filter(({ audience }) => audience === "account").map(({ name }) => name);
  const table: ConsumerTable = Object.fromEntries([...names, "account.canary_changed"].map((name) => [name, single]));
  consume("fan-out", table, batchHandler);
}
