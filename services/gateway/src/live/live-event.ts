import { eventOf, type SubscriptionDeclaration, subscriptions } from "@signalbox/contracts";
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

export const declarations: readonly SubscriptionDeclaration[] = Object.values(subscriptions);

/** Lists the topics with the events of a subscription. */
export const topicsOf = ({ events }: SubscriptionDeclaration): string[] => [
  ...new Set(events.map((name) => eventOf(name).topic)),
];

/** The most recently added ids; the oldest are removed first. */
export class RecentIds {
  readonly #ids = new Set<string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    if (this.#ids.size <= this.#max) return;
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest);
      return;
    }
  }
}
