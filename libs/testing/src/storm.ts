import { setTimeout as sleep } from "node:timers/promises";
import type { OwnEngine } from "./start-engine.ts";
import type { TestProcess } from "./start-process.ts";

export interface SupervisedProcess {
  kill(): Promise<void>;
  /** Kills it for good. */
  end(): Promise<void>;
}

/** Restarts a process whenever it ends, as an orchestrator does. */
export function superviseProcess(start: () => Promise<TestProcess>): SupervisedProcess {
  let current: TestProcess | null = null;
  let isEnding = false;
  const supervising = (async () => {
    while (!isEnding) {
      current = await start();
      if (isEnding) await current.kill();
      await current.exited;
      // A process whose database is down ends at once.
      await sleep(100);
    }
  })();
  return {
    kill: async () => void (await current?.kill()),
    async end() {
      isEnding = true;
      await current?.kill();
      await supervising;
    },
  };
}

interface Sending {
  readonly perSecond: number;
  /**
   * Maximum number of pending sends; beyond it senders wait: repetitions must not starve a process that is starting.
   */
  readonly openMax: number;
  /** Sends the item with this number, repeatedly until it is accepted. */
  readonly send: (nth: number) => Promise<void>;
}

/** Sends at even intervals until `finish`, which waits for pending sends. */
export function sendEvenly({ perSecond, openMax, send }: Sending): { finish(): Promise<void> } {
  const open = new Set<Promise<void>>();
  let isOver = false;
  const sending = (async () => {
    const startedMs = performance.now();
    for (let nth = 0; !isOver; nth++) {
      const waitMs = startedMs + (nth * 1000) / perSecond - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      if (open.size >= openMax) await Promise.race(open);
      const sent: Promise<void> = send(nth).finally(() => open.delete(sent));
      open.add(sent);
    }
  })();
  return {
    async finish() {
      isOver = true;
      await sending;
      await Promise.all(open);
    },
  };
}

interface Storm {
  readonly processes: readonly SupervisedProcess[];
  readonly database: OwnEngine;
  readonly log: OwnEngine;
  /** Minimum duration; it continues until the log was killed twice. */
  readonly forMs: number;
}

/** Time between two kills: about three of each engine in 14 seconds. */
const killEveryMs = 1_100;

/** Kills a process, the database, another process and the log in turn, at arbitrary moments of their work. */
export async function killInTurn({ processes, database, log, forMs }: Storm) {
  const killed = { process: 0, database: 0, log: 0 };
  const endsMs = performance.now() + forMs;
  const restart = async (engine: OwnEngine) => {
    await engine.kill();
    await engine.restart();
  };
  for (let turn = 0; performance.now() < endsMs || killed.log < 2; turn++) {
    await sleep(killEveryMs * (0.5 + Math.random()));
    const victim = (["process", "database", "process", "log"] as const)[turn % 4] ?? "process";
    killed[victim]++;
    if (victim === "process") await processes[turn % processes.length]?.kill();
    else await restart(victim === "database" ? database : log);
  }
  return killed;
}
