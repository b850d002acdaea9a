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
 * Keeps the lock for as long as the process lives. The connection counts against the pool. One that is lost is replaced
 * under another id: what the former one names counts as left behind.
 */
export function startPresence({ pool, runner }: { pool: Pool; runner: Pick<Runner, "worker"> }): Presence {
  let held: number | null = null;
  runner.worker("presence", (stopping) =>
    inSession(pool, async (session) => {
      held = await showPresence(session);
      try {
        const end = AbortSignal.any([stopping, session.lost]);
        if (!end.aborted) await once(end, "abort");
      } finally {
        held = null;
      }
      if (!stopping.aborted) throw databaseAway("the connection that shows that this process lives was lost");
    }),
  );
  return { id: () => held };
}
