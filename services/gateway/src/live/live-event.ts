import { eventOf, type SubscriptionDeclaration } from "@signalbox/contracts";
import type { ReceivedEvent } from "@signalbox/events";

/** An event for subscriptions, and its place in the log. */
export interface LiveEvent {
  readonly event: ReceivedEvent;
  readonly topic: string;
  /** `topic/partition`. */
  readonly place: string;
  readonly offset: bigint;
}

/** Lists the topics with the events of a subscription. */
export const topicsOf = ({ events }: Pick<SubscriptionDeclaration, "events">): string[] => [
  ...new Set(events.map((name) => eventOf(name).topic)),
];
