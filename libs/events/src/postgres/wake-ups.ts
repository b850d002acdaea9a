import { setTimeout as sleep } from "node:timers/promises";
import { randomId } from "@signalbox/core";
import { inSession, type Pool, sql } from "@signalbox/storage";

/** Tells readers that something was appended or that a group changed. A hint only: readers also look by themselves. */
export interface WakeUps {
  /** Wakes readers in this process at once and those elsewhere within milliseconds. */
  announce(): void;
  listen(wake: () => void): () => void;
  close(): Promise<void>;
}

const channel = "signalbox_log";
const listenStatement = sql("", `listen ${channel}`);
const notify = sql("log.notify", "select pg_notify($1, $2)");
const retryMs = 1_000;

/** Readers of this process by the URL of their log: several services of one process meet here. */
const localReaders = new Map<string, Set<() => void>>();
/** Readers here are woken directly; the echo of our own notification is left out. */
const processId = randomId("process");

export function createWakeUps(pool: Pool, url: string): WakeUps {
  const readers = localReaders.get(url) ?? new Set();
  localReaders.set(url, readers);
  const closing = new AbortController();
  let listening: Promise<void> | undefined;
  let notifying: Promise<void> | undefined;
  let again = false;

  const wakeAll = () => {
    for (const wake of readers) wake();
  };

  /** After the commit and outside of it, one at a time: a NOTIFY inside busy transactions makes their commits queue. */
  async function sendNotifications(): Promise<void> {
    do {
      again = false;
      await pool.query(notify, [channel, processId]).catch(() => {});
    } while (again);
    notifying = undefined;
  }

  async function listenForOthers(): Promise<void> {
    while (!closing.signal.aborted) {
      const lost = inSession(pool, async (session) => {
        session.onNotification((_, sender) => {
          if (sender !== processId) wakeAll();
        });
        await session.query(listenStatement);
        wakeAll(); // whatever was missed while nobody listened
        await aborted(AbortSignal.any([session.lost, closing.signal]));
      });
      await lost.catch(() => {});
      await sleep(retryMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  return {
    announce() {
      wakeAll();
      again = true;
      notifying ??= sendNotifications();
    },
    listen(wake) {
      readers.add(wake);
      listening ??= listenForOthers();
      return () => readers.delete(wake);
    },
    async close() {
      closing.abort();
      await Promise.all([listening, notifying]);
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
