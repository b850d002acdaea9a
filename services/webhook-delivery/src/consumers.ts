import { catalogue, type EventName } from "@signalbox/contracts";
import type { BatchHandler, ConsumerTable, Handler } from "@signalbox/events";
import type { Removals } from "./endpoints/removals.ts";
import { outgoingEventOf } from "./events/outgoing-event.ts";
import type { FanOut } from "./publishing/fan-out.ts";

interface ConsumerDependencies {
  readonly fanOut: FanOut;
  readonly removals: Pick<Removals, "deleteAllOf">;
}

interface FanOutConsumer {
  readonly table: ConsumerTable;
  readonly batchHandler: BatchHandler;
}

/** Creates the consumer that creates deliveries for the subscribers of each event. */
export function createFanOutConsumer({ fanOut, removals }: ConsumerDependencies): FanOutConsumer {
  const batchHandler: BatchHandler = async (events, { tx }) => {
    await fanOut.deliver(
      tx,
      events.map(outgoingEventOf).filter((event) => event !== null),
    );
    for (const { name, subject } of events) if (name === "account.deleted") await removals.deleteAllOf(tx, subject);
  };
  const single: Handler<EventName> = (event, context) => batchHandler([event], context);
  const names = catalogue.filter(({ audience }) => audience === "account").map(({ name }) => name);
  return {
    table: Object.fromEntries([...names, "account.canary_changed"].map((name) => [name, single])),
    batchHandler,
  };
}
