import { randomInt } from "node:crypto";
import { once } from "node:events";
import type { Runner } from "@signalbox/runtime";
import { databaseAway } from "./errors.ts";
import type { Pool } from "./pool.ts";
import { inSession, type Session } from "./session.ts";
import { sql } from "./statement.ts";

/** Shows the others, by a lock that ends with its connection, that this process lives. */
export interface Presence {
  /** What a row names this process by; null while it cannot show that it lives. */
  id(): number | null;
}

/** Apart from the advisory locks of everybody else. */
const lockClass = 4202;

const hold = sql("presence.hold", `select pg_advisory_lock(${lockClass}, $1)`);

/**
 * Writes the condition that the process of this id, a column or a parameter, no longer lives. It takes the lock for a
 * moment to find out, so of two who ask at once one may be told that it does.
 */
export const isGone = (id: string): string => `pg_try_advisory_xact_lock(${lockClass}, ${id})`;

/** Shows that this process lives, for as long as the session does; answers what a row names it by. */
export async function showPresence(session: Session): Promise<number> {
  const id = randomInt(2 ** 31);
  await session.query(hold, [id]);
  return id;
}

/**
 * Keeps the lock until the process closes its parts: requests in hand go on while workers already stop, and what they claim
 * is theirs. The connection counts against the pool. One that is lost is replaced under another id: what the former one
 * names counts as left behind.
 */
export function startPresence({ pool, runner }: { pool: Pool; runner: Pick<Runner, "worker" | "defer"> }): Presence {
  const closing = new AbortController();
  let held: number | null = null;
  let shown = Promise.resolve();
  const show = () =>
    inSession(pool, async (session) => {
      held = await showPresence(session);
      try {
        const end = AbortSignal.any([closing.signal, session.lost]);
        if (!end.aborted) await once(end, "abort");
      } finally {
        held = null;
      }
      if (!closing.signal.aborted) throw databaseAway("the connection that shows that this process lives was lost");
    });
  runner.worker("presence", async (stopping) => {
    shown = show();
    shown.catch(() => {}); // told to the worker, unless it has stopped
    await Promise.race([shown, once(stopping, "abort")]);
  });
  runner.defer("presence", async () => {
    closing.abort();
    await shown.catch(() => {});
  });
  return { id: () => held };
}
