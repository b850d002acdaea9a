import { setTimeout as sleep } from "node:timers/promises";
import { randomId } from "@signalbox/core";
import { inSession, type Pool, sql } from "@signalbox/storage";

/** What is worth a look: new records, or a change among the members of a group. */
type News = "records" | "members";
type Wake = (news: News) => void;

/** Tells readers that there is news. A hint only: readers also look by themselves. */
export interface WakeUps {
  /** Wakes readers in this process at once and those elsewhere within milliseconds. */
  announce(news: News): void;
  listen(wake: Wake): () => void;
  close(): Promise<void>;
}

const channel = "signalbox_log";
const listenStatement = sql("", `listen ${channel}`);
const notify = sql("log.notify", "select pg_notify($1, $2)");
const retryMs = 1_000;

/** Readers of this process by the URL of their log: several services of one process meet here. */
const localReaders = new Map<string, Set<Wake>>();
/** Readers here are woken directly; the echo of our own notification is left out. */
const processId = randomId("process");

export function createWakeUps(pool: Pool, url: string): WakeUps {
  const readers = localReaders.get(url) ?? new Set();
  localReaders.set(url, readers);
  const closing = new AbortController();
  let listening: Promise<void> | undefined;
  let notifying: Promise<void> | undefined;
  const untold = new Set<News>();

  const wakeAll = (news: News) => {
    for (const wake of readers) wake(news);
  };

  /** After the commit and outside of it, one at a time: a NOTIFY inside busy transactions makes their commits queue. */
  async function sendNotifications(): Promise<void> {
    for (let [news] = untold; news !== undefined; [news] = untold) {
      untold.delete(news);
      await pool.query(notify, [channel, `${news} ${processId}`]).catch(() => {});
    }
    notifying = undefined;
  }

  async function listenForOthers(): Promise<void> {
    while (!closing.signal.aborted) {
      const lost = inSession(pool, async (session) => {
        session.onNotification((_, message) => {
          const [news, sender] = message.split(" ");
          if (sender !== processId) wakeAll(news as News);
        });
        await session.query(listenStatement);
        wakeAll("members"); // whatever was missed while nobody listened
        wakeAll("records");
        await aborted(AbortSignal.any([session.lost, closing.signal]));
      });
      await lost.catch(() => {});
      await sleep(retryMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  return {
    announce(news) {
      wakeAll(news);
      untold.add(news);
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
