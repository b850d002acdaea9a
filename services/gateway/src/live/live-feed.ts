import { setImmediate } from "node:timers/promises";
import { AppError, MiB, randomId } from "@signalbox/core";
import { decodeEvent, type EventLog, eventNameOf, type PartitionRange, type ReceivedRecord } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";
import { graphError } from "../documents/graph-error.ts";
import type { Positions } from "./live-cursor.ts";
import { declarations, type LiveEvent, RecentIds, topicsOf } from "./live-event.ts";

interface Kept {
  readonly one: LiveEvent;
  readonly bytes: number;
}

type FeedContext = Omit<ServiceContext<unknown>, "configuration"> & { readonly eventLog: EventLog };

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
      (error: unknown) => log.error({ error }, "reading events for subscriptions failed"),
    );
  }

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
    if (isInRing && !isAhead) return fromRing([...this.#ring], after, topics);
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

async function* fromRing(ring: readonly Kept[], after: Positions, topics: readonly string[]) {
  for (const { one } of ring) {
    if (topics.includes(one.topic) && one.offset >= (after.get(one.place) ?? 0n)) yield one;
  }
}

const topicAt = (place: string): string => place.slice(0, place.lastIndexOf("/"));

interface Replay {
  readonly eventLog: { readonly broadcast: EventLog["broadcast"] };
  readonly service: string;
  readonly instance: string;
  readonly topics: readonly string[];
  readonly after: Positions;
  /** The feed's position at the start of the replay: later events are sent by the feed. */
  readonly until: Positions;
  /** Resolves when nobody wants the events any more, also while the log sends none. */
  readonly over: Promise<void>;
  readonly read: (record: ReceivedRecord) => LiveEvent | null;
}

/** Number of events read ahead of a client. */
const aheadMax = 64;
/** The two copies of a repeated event are within a page of an outbox. */
const seenMax = 10_000;

/**
 * Reads the log between two positions again, by a reader of its own.
 * @throws GraphQLError `CURSOR_EXPIRED`, or AppError `unavailable` where the log cannot be read now
 */
export async function* replayFromLog({ after, until, over, read, ...parts }: Replay): AsyncIterable<LiveEvent> {
  const ahead: LiveEvent[] = [];
  const seen = new RecentIds(seenMax);
  let failure: Error | null = null;
  let isOver = false;
  let [wake, hasRoom] = [() => {}, () => {}];

  const options: Parameters<EventLog["broadcast"]>[0] = {
    service: parts.service,
    instance: `${parts.instance}-${randomId("replay")}`,
    topics: parts.topics,
    from(range) {
      const wanted = after.get(`${range.topic}/${range.partition}`) ?? range.first;
      if (isGone(range, wanted)) failure ??= expired();
      return wanted;
    },
    async onRecord(record) {
      if (record.offset >= (until.get(`${record.topic}/${record.partition}`) ?? record.offset)) return;
      const one = read(record);
      if (!one || seen.has(one.event.id)) return;
      seen.add(one.event.id);
      ahead.push(one);
      wake();
      while (ahead.length > aheadMax && !isOver) {
        await new Promise<void>((resolve) => {
          hasRoom = resolve;
        });
      }
    },
  };
  const reader = await parts.eventLog.broadcast(options).catch((cause: unknown) => {
    throw unreadable(cause);
  });
  const end = (error: Error | null) => {
    failure ??= error;
    isOver = true;
    wake();
  };
  reader.caughtUp.then(
    () => end(null),
    (cause: unknown) => end(unreadable(cause)),
  );
  void over.then(() => end(null));

  try {
    while (!failure && (ahead.length > 0 || !isOver)) {
      const one = ahead.shift();
      if (one) {
        hasRoom();
        yield one;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    if (failure) throw failure;
  } finally {
    isOver = true;
    hasRoom();
    await reader.close();
  }
}

/** Returns true for an unavailable offset; a cursor from another log may also be ahead of this one. */
const isGone = ({ first, end }: PartitionRange, wanted: bigint): boolean => wanted < first || wanted > end;

/** Wraps an error: only the log can fail here, and the client still has its cursor. */
const unreadable = (cause: unknown) =>
  new AppError("unavailable", "The events after this cursor cannot be read now. Subscribe again with it.", {
    cause,
    retryAfterSeconds: 2,
  });

const expired = () =>
  graphError(
    "CURSOR_EXPIRED",
    "The events after this cursor are no longer kept. Read the current state, and subscribe again.",
  );
