import { isUnavailable, seconds } from "@signalbox/core";
import type pg from "pg";
import { breaksConnection, databaseAway, toAppError } from "./errors.ts";
import type { Pool } from "./pool.ts";
import { type Queryable, send } from "./prepared-statement.ts";

/** One connection for state that lives on a connection: session advisory locks, LISTEN. */
export interface Session extends Queryable {
  onNotification(listener: (channel: string, payload: string) => void): void;
  /** Aborted when the connection is lost or its server demoted, and with it its locks and LISTEN. */
  readonly lost: AbortSignal;
}

/** A demoted server keeps the session and notifies of nothing any more. */
const askEveryMs = seconds(2);

/**
 * Runs `work` on one connection, which is closed afterwards so that no lock or LISTEN outlives it. The connection counts
 * against the pool for as long as `work` runs.
 */
export async function inSession<T>(pool: Pool, work: (session: Session) => Promise<T>): Promise<T> {
  const client = await pool.driver.connect().catch((error: unknown) => {
    throw toAppError(error);
  });
  const lost = new AbortController();
  const abort = () => lost.abort();
  client.once("end", abort);
  const asking = watchRole(pool, client, abort);
  try {
    if (!(await pool.driver.role.isWritable(client))) throw databaseAway("it accepts no writes");
    return await work({
      query: (statement, values) => send(client, statement, values),
      onNotification: (listener) =>
        client.on("notification", ({ channel, payload }) => listener(channel, payload ?? "")),
      lost: lost.signal,
    });
  } catch (error) {
    if (isUnavailable(error) && breaksConnection(error)) abort();
    throw toAppError(error);
  } finally {
    clearInterval(asking);
    client.off("end", abort);
    client.release(true);
  }
}

/** Calls `onDemoted` once the server of the session accepts no writes. */
function watchRole({ driver }: Pool, client: pg.PoolClient, onDemoted: () => void): NodeJS.Timeout {
  let isAsking = false;
  const ask = async () => {
    if (isAsking) return;
    isAsking = true;
    const isWritable = await driver.role.isWritable(client).catch(() => true); // the end of the connection is told
    isAsking = false;
    if (!isWritable) onDemoted();
  };
  return setInterval(ask, askEveryMs).unref();
}
