import { isUnavailable } from "@signalbox/core";
import { breaksConnection, toAppError } from "./errors.ts";
import type { Pool } from "./pool.ts";
import { send } from "./send.ts";
import type { Queryable } from "./statement.ts";

/** One connection for state that lives on a connection: session advisory locks, LISTEN. */
export interface Session extends Queryable {
  onNotification(listener: (channel: string, payload: string) => void): void;
  /** Aborted when the connection is lost, and with it its locks and LISTEN. */
  readonly lost: AbortSignal;
}

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
  try {
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
    client.off("end", abort);
    client.release(true);
  }
}
