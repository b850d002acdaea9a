import { setImmediate } from "node:timers/promises";
import { type SubscriptionDeclaration, subscriptions } from "@signalbox/contracts";
import { MiB } from "@signalbox/core";
import { decodeEvent, type EventLog, eventNameOf, type ReceivedRecord } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";
import type { Positions } from "./live-cursor.ts";
import { type LiveEvent, topicsOf } from "./live-event.ts";
import { replayFromLog } from "./log-replay.ts";

interface Kept {
  readonly one: LiveEvent;
  readonly bytes: number;
}

type FeedContext = Pick<ServiceContext<unknown>, "service" | "instance" | "log" | "runner" | "health"> & {
  readonly eventLog: EventLog;
};

const declarations: readonly SubscriptionDeclaration[] = Object.values(subscriptions);
const subscribedEvents: ReadonlySet<string> = new Set(declarations.flatMap(({ events }) => events));

const ringBytesMax = 64 * MiB;
const eventsPerTurn = 16;
const keptShare = 7 / 8;
/** Memory of an event besides its bytes, in the ring and decoded. */
const entryBytes = 1_024;

/**
 * The events of all subscriptions, read once for the process. The last 64 MiB are kept, so that a client that
 * reconnects gets its missed events without reading the log again.
 */
export class LiveFeed {
  readonly #context: FeedContext;
  readonly #topics = [...new Set(declarations.flatMap(topicsOf))];
  readonly #positions = new Map<string, bigint>();
  /** The first offset from which the ring is complete. */
  readonly #floor = new Map<string, bigint>();
  readonly #ids = new Set<string>();
  readonly #ringBytesMax: number;
  #ring: Kept[] = [];
  #ringBytes = 0;
  #replayedCount = 0;
  #isReady = false;
  #onEvent: (one: LiveEvent) => Promise<void> = async () => {};

  constructor(context: FeedContext, bytesMax = ringBytesMax) {
    this.#context = context;
    this.#ringBytesMax = bytesMax;
  }

  /** False until the log was read: before that no position is known. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Starts to read, one event after the other. The service counts as started once the end of the log is known. */
  async open(onEvent: (one: LiveEvent) => Promise<void>): Promise<void> {
    const { eventLog, service, instance, log, runner, health } = this.#context;
    this.#onEvent = onEvent;
    const startup = health.startup("live events");
    const reader = await eventLog.broadcast({
      service,
      instance,
      topics: this.#topics,
      from: ({ topic, partition, end }) => {
        this.#positions.set(`${topic}/${partition}`, end);
        this.#floor.set(`${topic}/${partition}`, end);
        return end;
      },
      onRecord: (record) => this.#take(record),
    });
    runner.defer("live events", () => reader.close());
    health.live("live events", () => reader.liveness());
    reader.caughtUp.then(
      () => {
        this.#isReady = true;
        startup.done();
      },
      (error: unknown) => log.error({ error }, "reading the events of subscriptions failed"),
    );
  }

  /** Returns the current positions of some topics. */
  positionsIn(topics: readonly string[]): Positions {
    return new Map([...this.#positions].filter(([place]) => topics.includes(topicAt(place))));
  }

  /**
   * Replays the events after the positions, up to the position at the first call: from the ring, or from the log until
   * nobody wants them any more.
   * @throws GraphQLError `CURSOR_EXPIRED`
   */
  replay(after: Positions, topics: readonly string[], over: Promise<void>): AsyncIterable<LiveEvent> {
    const until = this.positionsIn(topics);
    const isInRing = [...until.keys()].every((place) => (after.get(place) ?? 0n) >= (this.#floor.get(place) ?? 0n));
    const isAhead = [...after].some(([place, offset]) => offset > (until.get(place) ?? offset));
    if (isInRing && !isAhead)
      return fromRing(
        this.#ring.map(({ one }) => one),
        after,
        topics,
      );
    return replayFromLog({ ...this.#context, topics, after, until, over, read: (record) => this.#read(record) });
  }

  async #take(record: ReceivedRecord): Promise<void> {
    const place = `${record.topic}/${record.partition}`;
    this.#positions.set(place, record.offset + 1n);
    const one = this.#read(record);
    // An event may be in the log twice, when its publisher crashed before the confirmation.
    if (!one || this.#ids.has(one.event.id)) return;
    this.#keep(one, entryBytes + 2 * (record.value?.length ?? 0));
    await this.#onEvent(one);
    // A page of the log arrives as a whole, and messages must be sent between its events.
    if (++this.#replayedCount % eventsPerTurn === 0) await setImmediate();
  }

  /** Decodes a record; null when it is not for subscriptions. */
  #read(record: ReceivedRecord): LiveEvent | null {
    const { topic, partition, offset } = record;
    if (record.value === null) return null;
    try {
      const name = eventNameOf(record.headers);
      if (name === null || !subscribedEvents.has(name)) return null;
      const { dataJson, ...event } = decodeEvent(name, record);
      return { event, topic, place: `${topic}/${partition}`, offset };
    } catch (error) {
      this.#context.log.error({ error, topic, offset: String(offset) }, "an event of a subscription is unreadable");
      return null;
    }
  }

  #keep(one: LiveEvent, bytes: number): void {
    this.#ring.push({ one, bytes });
    this.#ids.add(one.event.id);
    this.#ringBytes += bytes;
    if (this.#ringBytes > this.#ringBytesMax) this.#forgetOldest();
  }

  /** Frees a larger part, or each event would move all the others. */
  #forgetOldest(): void {
    let gone = 0;
    for (const { one, bytes } of this.#ring) {
      if (this.#ringBytes <= this.#ringBytesMax * keptShare) break;
      this.#ringBytes -= bytes;
      this.#ids.delete(one.event.id);
      this.#floor.set(one.place, one.offset + 1n);
      gone++;
    }
    this.#ring = this.#ring.slice(gone);
  }
}

async function* fromRing(ring: readonly LiveEvent[], after: Positions, topics: readonly string[]) {
  for (const one of ring) {
    if (topics.includes(one.topic) && one.offset >= (after.get(one.place) ?? 0n)) yield one;
  }
}

const topicAt = (place: string): string => place.slice(0, place.lastIndexOf("/"));
