import { eventOf, type SubscriptionDeclaration } from "@signalbox/contracts";
import type { ReceivedEvent } from "@signalbox/events";

/** An event for subscriptions, and its place in the log. */
export interface LiveEvent {
  /** Without its bytes: they are part of a page of the log, which they would keep in memory as a whole. */
  readonly event: Omit<ReceivedEvent, "dataJson">;
  readonly topic: string;
  /** `topic/partition`. */
  readonly place: string;
  readonly offset: bigint;
}

/** Lists the topics with the events of a subscription. */
export const topicsOf = ({ events }: SubscriptionDeclaration): string[] => [
  ...new Set(events.map((name) => eventOf(name).topic)),
];
