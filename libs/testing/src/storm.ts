import { setTimeout as sleep } from "node:timers/promises";
import type { OwnEngine } from "./start-engine.ts";
import type { TestProcess } from "./start-process.ts";

export interface SupervisedProcess {
  kill(): Promise<void>;
  /** Kills it for good. */
  end(): Promise<void>;
}

/** A process that is started again whenever it ends, as an orchestrator does. */
export function superviseProcess(start: () => Promise<TestProcess>): SupervisedProcess {
  let current: TestProcess | null = null;
  let isEnding = false;
  const supervising = (async () => {
    while (!isEnding) {
      current = await start();
      if (isEnding) await current.kill();
      await current.exited;
      // One whose database is away ends at once.
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
  /** So many may be on their way; beyond that senders wait, too: repetitions must not starve what is starting again. */
  readonly openMax: number;
  /** Sends the one with this number, again until it is taken. */
  readonly send: (nth: number) => Promise<void>;
}

/** Sends at even distances until `finish`, which waits for those that are on their way. */
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
  /** The least that it lasts; it goes on until the log was killed twice. */
  readonly forMs: number;
}

/** Between two kills: about three of each engine in 14 seconds. */
const killEveryMs = 1_100;

/** Kills a process, the database, another process and the log in turn, at moments that fall anywhere into their work. */
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
