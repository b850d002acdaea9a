import { AppError, randomId } from "@signalbox/core";
import type { EventLog, PartitionRange, ReceivedRecord } from "@signalbox/events";
import type { Positions } from "./live-cursor.ts";
import { liveError } from "./live-error.ts";
import type { LiveEvent } from "./live-event.ts";
import { RecentIds } from "./recent-ids.ts";

interface Replay {
  readonly eventLog: Pick<EventLog, "broadcast">;
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

  const opening = parts.eventLog.broadcast({
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
  });
  const reader = await opening.catch(refuse);
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

const refuse = (cause: unknown): never => {
  throw unreadable(cause);
};

const expired = () =>
  liveError(
    "CURSOR_EXPIRED",
    "The events after this cursor are no longer kept. Read the current state, and subscribe again.",
  );
