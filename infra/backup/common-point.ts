import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "@signalbox/core";
import type { EventLog } from "@signalbox/events";
import { DatabaseBusy, type DatabaseSnapshot, openDatabaseSnapshot } from "@signalbox/storage/database-snapshot";
import type { OwnedDatabase } from "./open-engines.ts";

/** All databases and the event log at one moment. */
export type CommonPoint = Awaited<ReturnType<typeof findCommonPoint>>;

/**
 * The tables that connect databases: a change with an event writes to the outbox, and its consumer writes to the inbox.
 * The relay reads the outbox until its events are acknowledged, so while these are locked nothing is on its way to the
 * log either.
 */
const tied = ["signalbox.outbox", "signalbox.inbox"];

/** Shorter than the time after which a waiting change is refused (`database.lock-timeout`). */
const lockWaitMs = 600;
const endsWaitMs = 400;
const triesMax = 100;
const pauseMs = 300;

/** Finds a moment without any half-finished change or event, and exports the databases' snapshots of it. */
export async function findCommonPoint(
  databases: readonly OwnedDatabase[],
  eventLog: Pick<EventLog, "ranges">,
  topics: readonly string[],
) {
  const snapshots = new Map<string, DatabaseSnapshot>();
  const close = async () => void (await Promise.all([...snapshots.values()].map((snapshot) => snapshot.close())));
  try {
    for (const { service, url } of databases) snapshots.set(service, await openDatabaseSnapshot(url, tied));
    await eventLog.ranges(topics); // makes the look-ups that it needs in advance
    for (let tries = 1; ; tries++) {
      const point = await look([...snapshots.values()], eventLog, topics);
      if (point) return { snapshots, close, ...point };
      if (tries === triesMax) throw new Error("the databases are too busy: some transaction is always running");
      await sleep(pauseMs); // lets the writers that waited for us continue
    }
  } catch (error) {
    await close();
    throw error;
  }
}

/** Tries once; null when a table was locked for too long, or the log was too slow: writers must not wait for that. */
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
    // The time that writers waited for the shared event position.
    return { ends, takenAt, heldMs: systemClock.steadyMs() - startedMs };
  } catch (error) {
    if (error instanceof DatabaseBusy) return null;
    throw error;
  } finally {
    await Promise.all(snapshots.map((snapshot) => snapshot.release()));
  }
}
