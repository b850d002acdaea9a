import { setTimeout as sleep } from "node:timers/promises";
import { randomId } from "@signalbox/core";
import { inSession, type Pool, showPresence, sql } from "@signalbox/storage";

/** Tells readers that there is news. A hint only: readers also look by themselves. */
export interface WakeUps {
  /** Wakes the readers of the topics, in this process at once and elsewhere within milliseconds. */
  announceRecords(topics: Iterable<string>): void;
  /** Wakes who is a member of a group: others came or went. */
  announceMembers(): void;
  listen(reader: LogReader): () => void;
  /** What a row names this process by, to show others that it lives; null while it cannot. */
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

/** Readers of this process by the URL of their log: several services of one process meet here. */
const localReaders = new Map<string, Set<LogReader>>();
/** Readers here are woken directly; the echo of our own notification is left out. */
const processId = randomId("process");
/** Stands for the members where a notification else names a topic. */
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
        wake(new Set([members, ...[...readers].flatMap(({ topics }) => topics)])); // what was missed while nobody listened
        await aborted(AbortSignal.any([session.lost, closing.signal]));
      });
      await lost.catch(() => {});
      presence = null;
      wake(new Set([members])); // beats at once without it, or others would take this process for gone
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

/** Tells other processes after the commit and outside of it, one message at a time: a NOTIFY inside busy transactions makes their commits queue. */
function createNotifier(pool: Pool) {
  const untold = new Set<string>();
  let sending: Promise<void> | undefined;

  async function send(): Promise<void> {
    while (untold.size > 0) {
      const message = [processId, ...untold].join(" ");
      untold.clear();
      await pool.query(notify, [channel, message]).catch(() => {});
    }
    sending = undefined;
  }

  return {
    notify(subjects: ReadonlySet<string>): void {
      for (const subject of subjects) untold.add(subject);
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
