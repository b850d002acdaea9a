import { setTimeout as sleep } from "node:timers/promises";
import { randomId } from "@signalbox/core";
import { inSession, type Pool, showPresence, sql } from "@signalbox/storage";

/** Wakes readers when there is news. Only a hint: readers also check by themselves. */
export interface WakeUps {
  /** Wakes the readers of the topics, in this process at once and elsewhere within milliseconds. */
  announceRecords(topics: Iterable<string>): void;
  /** Wakes the members of groups: others joined or left. */
  announceMembers(): void;
  listen(reader: LogReader): () => void;
  /** The id by which rows name this process to show that it is alive; null while it has none. */
  presence(): number | null;
  close(): Promise<void>;
}

interface LogReader {
  readonly topics: readonly string[];
  onRecords(): void;
  onMembers?(): void;
}

const channel = "signalbox_log";
const listenStatement = sql("", `listen ${channel}`);
const notify = sql("log.notify", "select pg_notify($1, $2)");
const retryMs = 1_000;

/** Readers of this process by the URL of their log: several services of one process share them. */
const localReaders = new Map<string, Set<LogReader>>();
/** Readers here are woken directly; the echo of our own notification is ignored. */
const processId = randomId("process");
/** Stands for group members in a notification, in place of a topic. */
const members = "*";

export function createWakeUps(pool: Pool, url: string): WakeUps {
  const readers: Set<LogReader> = localReaders.get(url) ?? new Set();
  localReaders.set(url, readers);
  const closing = new AbortController();
  const notifier = createNotifier(pool);
  let listening: Promise<void> | undefined;
  let presence: number | null = null;

  function wake(subjects: ReadonlySet<string>): void {
    for (const reader of readers) {
      if (subjects.has(members)) reader.onMembers?.();
      if (reader.topics.some((topic) => subjects.has(topic))) reader.onRecords();
    }
  }

  function announce(subjects: ReadonlySet<string>): void {
    wake(subjects);
    notifier.notify(subjects);
  }

  async function listenForOthers(): Promise<void> {
    while (!closing.signal.aborted) {
      const lost = inSession(pool, async (session) => {
        session.onNotification((_, message) => {
          const [sender, ...subjects] = message.split(" ");
          if (sender !== processId) wake(new Set(subjects));
        });
        await session.query(listenStatement);
        presence = await showPresence(session);
        wake(new Set([members, ...[...readers].flatMap(({ topics }) => topics)])); // for notifications missed without a listener
        await aborted(AbortSignal.any([session.lost, closing.signal]));
      });
      await lost.catch(() => {});
      presence = null;
      wake(new Set([members])); // they beat at once, or others would take this process for dead
      await sleep(retryMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  return {
    announceRecords: (topics) => announce(new Set(topics)),
    announceMembers: () => announce(new Set([members])),
    listen(reader) {
      readers.add(reader);
      listening ??= listenForOthers();
      return () => readers.delete(reader);
    },
    presence: () => presence,
    async close() {
      closing.abort();
      await Promise.all([listening, notifier.finished()]);
    },
  };
}

/**
 * Notifies other processes after the commit and outside of it, one message at a time: a NOTIFY inside busy transactions
 * makes their commits queue.
 */
function createNotifier(pool: Pool) {
  const pending = new Set<string>();
  let sending: Promise<void> | undefined;

  async function send(): Promise<void> {
    while (pending.size > 0) {
      const message = [processId, ...pending].join(" ");
      pending.clear();
      await pool.query(notify, [channel, message]).catch(() => {});
    }
    sending = undefined;
  }

  return {
    notify(subjects: ReadonlySet<string>): void {
      for (const subject of subjects) pending.add(subject);
      sending ??= send();
    },
    finished: async (): Promise<void> => sending,
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
