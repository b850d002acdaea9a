import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable } from "@signalbox/core";
import type pg from "pg";
import { breaksConnection, isRowBusy, isSerializationFailure, outcomeUnknown, toAppError } from "./errors.ts";
import type { Pool } from "./pool.ts";
import { type Queryable, send } from "./prepared-statement.ts";
import { isAnswerLost, markColumns, resolveInDoubtCommit, type TransactionMark } from "./resolve-in-doubt-commit.ts";

/** An open transaction, by which events, audit entries and idempotency records are written. */
export interface Tx extends Queryable {
  /**
   * Set when everything is sent as one statement at the end (`inOneStatement`); rows are then protected by their
   * version, not by a lock.
   */
  readonly isOneStatement?: true;
  /**
   * Runs `hook` once the commit is certain; never after a rollback. For wake-ups and caches: it cannot fail the caller.
   */
  afterCommit(hook: () => void): void;
}

export interface TransactionOptions {
  readonly isolation?: "read committed" | "repeatable read" | "serializable";
  /** Maximum number of attempts when `work` loses against concurrent transactions. Default 3. */
  readonly attemptsMax?: number;
  /** Key of the change, such as an account id: transactions of one key get a connection one at a time. */
  readonly key?: string | undefined;
}

/**
 * Runs `work` in one transaction: commits when it returns, rolls back when it throws. A deadlock or serialization
 * failure repeats the whole of `work`, so its effects outside `tx` belong into `tx.afterCommit`. Nothing else is
 * repeated. When a connection breaks during COMMIT, the server is asked for the outcome; only if that fails does the
 * caller get `unavailable` with the outcome `unknown`. Waiting for a lock longer than the pool's `lockTimeoutMs` is
 * `unavailable`.
 */
export async function inTransaction<T>(
  pool: Pool,
  work: (tx: Tx) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const place = await pool.transactions.enter(options.key);
  let gaveUp = false;
  try {
    return await repeatCollisions(() => attemptOnce(pool, work, options), options.attemptsMax);
  } catch (error) {
    gaveUp = isRowBusy(error);
    throw toAppError(error);
  } finally {
    place.leave(gaveUp);
  }
}

/** Runs work again, a few times, that lost against a concurrent transaction. */
export async function repeatCollisions<T>(work: () => Promise<T>, attemptsMax = 3): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= attemptsMax || !isSerializationFailure(error)) throw error;
      await sleep(Math.random() * 20 * attempt); // a random pause, or the same transactions collide again
    }
  }
}

async function attemptOnce<T>(pool: Pool, work: (tx: Tx) => Promise<T>, options: TransactionOptions): Promise<T> {
  const client = await pool.driver.connect();
  const hooks: (() => void)[] = [];
  let open = true;
  const tx: Tx = {
    query: (statement, values) => {
      if (!open) throw new Error(`statement ${statement.name} was sent after its transaction had ended`);
      return send(client, statement, values);
    },
    afterCommit: (hook) => void hooks.push(hook),
  };
  let broken = false;
  try {
    const mark = await begin(client, options.isolation);
    const result = await work(tx);
    broken = (await commit(pool, client, mark)) === "broken";
    runHooks(pool, hooks);
    return result;
  } catch (error) {
    broken = !(await rollback(client, error));
    throw error;
  } finally {
    open = false;
    client.release(broken);
  }
}

/** Begins, in one round trip, and returns the mark that identifies the transaction after its connection is gone. */
async function begin(client: pg.PoolClient, isolation: TransactionOptions["isolation"]): Promise<TransactionMark> {
  const text = isolation ? `begin isolation level ${isolation}` : "begin";
  const results: unknown = await client.query(`${text}; select ${markColumns}`);
  return (results as readonly [unknown, pg.QueryResult<TransactionMark>])[1].rows[0] as TransactionMark;
}

/**
 * Commits. A connection that is lost before the answer leaves the outcome open, so the server is asked over another
 * one.
 */
async function commit(pool: Pool, client: pg.PoolClient, mark: TransactionMark): Promise<"whole" | "broken"> {
  const answer = await client.query("commit").catch(async (error: unknown) => {
    if (!isAnswerLost(error)) throw error;
    const outcome = await resolveInDoubtCommit(pool, mark);
    if (outcome === "unknown") throw outcomeUnknown(error);
    if (outcome === "aborted") throw error;
    return null;
  });
  // PostgreSQL answers COMMIT of a failed transaction with a silent ROLLBACK: work that swallowed an error would seem
  // to succeed.
  if (answer && answer.command !== "COMMIT")
    throw new Error("the transaction was rolled back: the error of one of its statements was swallowed");
  return answer ? "whole" : "broken";
}

/** Rolls back, unless the connection is already lost; returns false when it must not be reused. */
async function rollback(client: pg.PoolClient, reason: unknown): Promise<boolean> {
  if (isUnavailable(reason) && breaksConnection(reason)) return false;
  return client.query("rollback").then(
    () => true,
    () => false,
  );
}

export function runHooks(pool: Pool, hooks: readonly (() => void)[]): void {
  for (const hook of hooks) {
    try {
      hook();
    } catch (error) {
      pool.log.error({ error }, "a hook failed after its transaction was committed");
    }
  }
}
