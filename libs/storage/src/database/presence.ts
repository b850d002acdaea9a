import { randomInt } from "node:crypto";
import { once } from "node:events";
import type { Runner } from "@signalbox/runtime";
import { databaseAway } from "./errors.ts";
import type { Pool } from "./pool.ts";
import { sql } from "./prepared-statement.ts";
import { inSession, type Session } from "./session.ts";

/** Proves to other processes, by a lock that ends with its connection, that this process lives. */
export interface Presence {
  /** The id of this process in rows; null while it cannot prove that it lives. */
  id(): number | null;
}

/** A class of its own among the advisory locks. */
const lockClass = 4202;

const hold = sql("presence.hold", `select pg_advisory_lock(${lockClass}, $1)`);

/**
 * Returns a condition that is true when the process of this id, a column or a parameter, has ended. It takes the lock
 * for a moment to find out, so of two simultaneous checks one may find the process alive.
 */
export const isGone = (id: string): string => `pg_try_advisory_xact_lock(${lockClass}, ${id})`;

/** Takes the lock for as long as the session lives; returns the id of this process. */
export async function showPresence(session: Session): Promise<number> {
  const id = randomInt(2 ** 31);
  await session.query(hold, [id]);
  return id;
}

/**
 * Keeps the lock until the process closes its parts: pending requests continue while workers already stop, and keep
 * their claims. The connection counts against the pool. A lost connection is replaced under another id: rows with the
 * former id count as abandoned.
 */
export function startPresence({ pool, runner }: { pool: Pool; runner: Runner }): Presence {
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
      if (!closing.signal.aborted) throw databaseAway("the liveness connection of this process was lost");
    });
  runner.worker("presence", async (stopping) => {
    shown = show();
    shown.catch(() => {}); // reported to the worker, unless it has stopped
    await Promise.race([shown, once(stopping, "abort")]);
  });
  runner.defer("presence", async () => {
    closing.abort();
    await shown.catch(() => {});
  });
  return { id: () => held };
}
