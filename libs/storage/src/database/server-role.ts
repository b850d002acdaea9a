import { failureCode, seconds, systemClock } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";
import type pg from "pg";

interface Connection {
  readonly openedMs: number;
  /** Time of the last answer about the role; null before the first. */
  checkedMs: number | null;
  isReadOnly: boolean;
}

/** A connection that was idle or busy for this long is asked again before its next use. */
const checkAfterMs = seconds(2);
/** A younger connection is the best that can be had: opening another one now would lead to the same server. */
const freshMs = 250;

/**
 * Tells a writable server from one that was demoted or set to read-only. After a switchover the pool's connections
 * still lead to the former primary, which answers reads and refuses every write, so each connection is asked for the
 * role of its server before use, at most once in two seconds. Once a server turns out to be read-only, no connection
 * opened before that is used again; while no writable one can be had, reads are served by a read-only one.
 */
export class ServerRole {
  readonly #log: Logger;
  readonly #pool: string;
  readonly #connections = new WeakMap<pg.ClientBase, Connection>();
  #demotedMs = Number.NEGATIVE_INFINITY;
  #isWritable = true;

  constructor(pool: string, log: Logger) {
    this.#pool = pool;
    this.#log = log;
  }

  /** Returns false when the connection must not be used any more. */
  async admits(client: pg.ClientBase): Promise<boolean> {
    const connection = this.#connectionOf(client);
    if (this.#isOutdated(connection)) return false;
    const nowMs = systemClock.steadyMs();
    const limitMs = connection.isReadOnly ? freshMs : checkAfterMs;
    if (connection.checkedMs !== null && nowMs - connection.checkedMs < limitMs) return true;
    const isFirst = connection.checkedMs === null;
    try {
      await this.isWritable(client);
    } catch (error) {
      if (isFirst) throw error;
      return false; // it broke while it was idle
    }
    return !this.#isOutdated(connection);
  }

  /** Asks the server of the connection. */
  async isWritable(client: pg.ClientBase): Promise<boolean> {
    const { rows } = await client.query<{ transaction_read_only: string }>("show transaction_read_only");
    const isWritable = rows[0]?.transaction_read_only === "off";
    const connection = this.#connectionOf(client);
    connection.checkedMs = systemClock.steadyMs();
    connection.isReadOnly = !isWritable;
    if (isWritable) this.#promote();
    else this.#demote(connection);
    return isWritable;
  }

  /** Notes a failed statement: the refusal of a write shows a demotion before the next check. */
  noteFailure(client: pg.ClientBase, error: unknown): void {
    const connection = this.#connections.get(client);
    if (connection && failureCode(error) === "25006" && !this.#isFresh(connection))
      this.#demotedMs = systemClock.steadyMs();
  }

  #connectionOf(client: pg.ClientBase): Connection {
    const known = this.#connections.get(client);
    if (known) return known;
    const connection = { openedMs: systemClock.steadyMs(), checkedMs: null, isReadOnly: false };
    this.#connections.set(client, connection);
    return connection;
  }

  #isOutdated({ openedMs }: Connection): boolean {
    return openedMs < this.#demotedMs;
  }

  #isFresh({ openedMs }: Connection): boolean {
    return systemClock.steadyMs() - openedMs < freshMs;
  }

  #demote(connection: Connection): void {
    if (!this.#isFresh(connection)) this.#demotedMs = systemClock.steadyMs();
    if (!this.#isWritable) return;
    this.#isWritable = false;
    this.#log.warn({ pool: this.#pool }, "the database accepts no writes; reopening its connections");
  }

  #promote(): void {
    if (this.#isWritable) return;
    this.#isWritable = true;
    this.#log.info({ pool: this.#pool }, "the database accepts writes again");
  }
}
