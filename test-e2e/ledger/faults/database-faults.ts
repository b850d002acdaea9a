import { setTimeout as sleep } from "node:timers/promises";
import type { LedgerSystem } from "../systems/ledger-system.ts";
import { both, type Fault } from "./fault.ts";

const backends = "from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()";

/** Faults of PostgreSQL and its sessions. */
export const databaseFaults: readonly Fault[] = [
  {
    name: "kill -9 of the database server",
    modes: both,
    lastsMs: 0,
    async begin({ postgres }) {
      await postgres.kill();
      return { undo: () => postgres.restart() };
    },
  },
  {
    name: "half of the database's sessions terminated",
    modes: both,
    lastsMs: 0,
    async begin({ query }) {
      for (let time = 0; time < 4; time++) {
        await query("postgres", `select pg_terminate_backend(pid) ${backends} and random() < 0.5`);
        await sleep(400);
      }
      return { undo: async () => {} };
    },
  },
  {
    name: "kill -9 of a database session",
    modes: both,
    lastsMs: 0,
    async begin({ query }) {
      const [session] = await query("postgres", `select pid ${backends} order by random() limit 1`);
      // The server ends every session and recovers, as after a crash of its own.
      if (session) process.kill(session.pid, "SIGKILL");
      return { undo: () => untilItAnswers(query) };
    },
  },
  {
    name: "half of the database's sessions held for 10 s",
    modes: ["embedded"],
    lastsMs: 10_000,
    isLong: true,
    async begin({ query }) {
      const held = (await query("postgres", `select pid ${backends} and random() < 0.5`)).map(
        ({ pid }) => pid as number,
      );
      for (const pid of held) trySignal(pid, "SIGSTOP");
      return {
        halted: ["everything"],
        undo: async () => {
          for (const pid of held) trySignal(pid, "SIGCONT");
        },
      };
    },
  },
  /** Commits wait for a missing standby, so they are written but not answered; then their sessions end. */
  {
    name: "sessions terminated at COMMIT",
    modes: both,
    lastsMs: 0,
    async begin({ query }) {
      const standby = async (name: string) => {
        await query("postgres", `alter system set synchronous_standby_names = '${name}'`);
        await query("postgres", "select pg_reload_conf()");
      };
      try {
        await standby("nobody");
        for (let time = 0; time < 5; time++) {
          await sleep(200);
          await query("postgres", `select pg_terminate_backend(pid) ${backends} and wait_event = 'SyncRep'`);
        }
      } finally {
        await standby("");
      }
      return { undo: async () => {} };
    },
  },
  /**
   * A switchover: sessions of the former primary answer reads and refuse every write for as long as they stay, and three
   * seconds later new ones lead to a primary. The settings of the server reach sessions that are open, those of a
   * database only new ones.
   */
  {
    name: "switchover of the database, three seconds without a primary",
    modes: both,
    lastsMs: 3_000,
    async begin({ query, databases, mode }) {
      const names = [...databases.values(), ...(mode === "embedded" ? ["signalbox_events"] : [])];
      const setDatabases = async (change: string) => {
        for (const name of names)
          await query("postgres", `begin read write; alter database "${name}" ${change}; commit`);
      };
      const setServer = async (isReadOnly: boolean) => {
        await query("postgres", `alter system set default_transaction_read_only = ${isReadOnly ? "on" : "off"}`);
        await query("postgres", "select pg_reload_conf()");
      };
      // After an earlier switchover open sessions have the setting of their database, which no reload changes.
      await setDatabases("reset default_transaction_read_only");
      await query("postgres", `select pg_terminate_backend(pid) ${backends}`);
      await sleep(500);
      await setServer(true);
      return { undo: () => setDatabases("set default_transaction_read_only = off") };
    },
  },
];

function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The session has ended.
  }
}

async function untilItAnswers(query: LedgerSystem["query"]): Promise<void> {
  for (let time = 0; time < 300; time++) {
    if (await query("postgres", "select 1").catch(() => null)) return;
    await sleep(100);
  }
  throw new Error("the database does not come back");
}
