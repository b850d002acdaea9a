import { setTimeout as sleep } from "node:timers/promises";
import { failureChain, failureCode, isSqlState, seconds, systemClock } from "@signalbox/core";
import { isUnsent } from "./errors.ts";
import { type Queryable, sql } from "./prepared-statement.ts";

/** Identifies a transaction to the server after its connection is gone. */
export interface TransactionMark {
  readonly id: string;
  /** Changes with every crash of the server: PostgreSQL then discards its statistics, and notes the time. */
  readonly incarnation: string;
}

/**
 * A part of the text of `begin`. The transaction id alone is not enough: ids that were not yet flushed are reused after
 * a crash, and the server would answer for another transaction.
 */
export const markColumns =
  "pg_current_xact_id()::text as id, coalesce(pg_stat_get_bgwriter_stat_reset_time()::text, '') as incarnation";

const findStatus = sql(
  "transaction.status",
  `select pg_xact_status($1::text::xid8) as status,
     coalesce(pg_stat_get_bgwriter_stat_reset_time()::text, '') = $2 as "isSameServer"`,
);

/** A caller waits at most three seconds, and the loss itself has taken some of them. */
const settleMs = seconds(1.5);
const pauseMs = 50;

/**
 * Finds out the outcome of a transaction whose connection was lost during its commit. `unknown` when the server cannot
 * be asked in time, or has crashed since.
 */
export async function resolveInDoubtCommit(
  pool: Queryable,
  { id, incarnation }: TransactionMark,
): Promise<"committed" | "aborted" | "unknown"> {
  const endsMs = systemClock.steadyMs() + settleMs;
  while (systemClock.steadyMs() < endsMs) {
    const answer = await pool
      .query<{ status: string | null; isSameServer: boolean }>(findStatus, [id, incarnation])
      .catch(() => null);
    const { status, isSameServer } = answer?.rows[0] ?? {};
    if (isSameServer === false) return "unknown";
    if (status === "committed" || status === "aborted") return status;
    await sleep(pauseMs);
  }
  return "unknown";
}

const lostInTheMiddle =
  /^(Connection terminated unexpectedly|Query read timeout|Client has encountered a connection error)/;

/** Returns true for a statement that may have had its effect, because the connection was lost before its answer. */
export function isAnswerLost(error: unknown): boolean {
  if (isUnsent(error)) return false;
  return failureChain(error).some((link) => {
    const code = failureCode(link);
    if (isSqlState(code)) return code.startsWith("57P") || code.startsWith("08");
    if (code === "ECONNRESET" || code === "EPIPE") return true;
    return link instanceof Error && lostInTheMiddle.test(link.message);
  });
}
