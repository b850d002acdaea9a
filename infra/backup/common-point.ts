import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "@signalbox/core";
import type { EventLog, PartitionRange } from "@signalbox/events";
import { DatabaseBusy, type DatabaseSnapshot, openDatabaseSnapshot } from "@signalbox/storage/database-snapshot";
import type { OwnedDatabase } from "./open-engines.ts";

/** All databases and the event log at one moment. */
export interface CommonPoint {
  readonly snapshots: ReadonlyMap<string, DatabaseSnapshot>;
  /** Where the log ended. */
  readonly ends: readonly PartitionRange[];
  readonly takenAt: Date;
  /** How long those waited who wanted to change something that an event tells of. */
  readonly heldMs: number;
  close(): Promise<void>;
}

/**
 * What ties one database to another: a change that somebody else learns of writes to the outbox, and who learns of it writes
 * to the inbox. The relay reads the outbox until what it published is acknowledged, so while these are held nothing is on
 * its way to the log either.
 */
const tied = ["signalbox.outbox", "signalbox.inbox"];

/** Shorter than a change waits for a lock before it is refused (`database.lock-timeout`). */
const lockWaitMs = 600;
const endsWaitMs = 400;
const triesMax = 100;
const pauseMs = 300;

/** Finds a moment at which no change and no event is half-way, and keeps the databases as they are then. */
export async function findCommonPoint(
  databases: readonly OwnedDatabase[],
  eventLog: Pick<EventLog, "ranges">,
  topics: readonly string[],
): Promise<CommonPoint> {
  const snapshots = new Map<string, DatabaseSnapshot>();
  const close = async () => void (await Promise.all([...snapshots.values()].map((snapshot) => snapshot.close())));
  try {
    for (const { service, url } of databases) snapshots.set(service, await openDatabaseSnapshot(url, tied));
    await eventLog.ranges(topics); // what has to be looked up for it is known from here on
    for (let tries = 1; ; tries++) {
      const point = await look([...snapshots.values()], eventLog, topics);
      if (point) return { snapshots, close, ...point };
      if (tries === triesMax) throw new Error("the databases are too busy: some transaction is always under way");
      await sleep(pauseMs); // so that those who waited for us go on
    }
  } catch (error) {
    await close();
    throw error;
  }
}

/** Null when somebody had a table for too long, or the log was too slow: others are not kept waiting for that. */
async function look(
  snapshots: readonly DatabaseSnapshot[],
  eventLog: Pick<EventLog, "ranges">,
  topics: readonly string[],
) {
  const startedMs = systemClock.steadyMs();
  try {
    const held = await Promise.allSettled(snapshots.map((snapshot) => snapshot.hold(lockWaitMs)));
    const failed = held.find((each) => each.status === "rejected");
    if (failed) throw failed.reason;
    const late = sleep(endsWaitMs, null, { ref: false });
    const ends = await Promise.race([eventLog.ranges(topics), late]);
    if (ends === null) return null;
    const takenAt = systemClock.now();
    await Promise.all(snapshots.map((snapshot) => snapshot.look()));
    return { ends, takenAt, heldMs: systemClock.steadyMs() - startedMs };
  } catch (error) {
    if (error instanceof DatabaseBusy) return null;
    throw error;
  } finally {
    await Promise.all(snapshots.map((snapshot) => snapshot.release()));
  }
}
