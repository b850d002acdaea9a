import { type Clock, minutes } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import type { Pool } from "./pool.ts";
import { type Statement, sql } from "./prepared-statement.ts";

/** The retention of a table's rows. Names and conditions are constants of the code and become part of a statement. */
export interface RetentionRule {
  /** The name of the worker. */
  readonly name: string;
  readonly table: string;
  /** The time from which the retention counts, such as `expires_at` or `created_at`. */
  readonly column: string;
  /** Narrows the rule to some rows: a condition whose parameters, from `$2` on, are the `values`. */
  readonly condition?: string;
  readonly values?: readonly unknown[];
  readonly keepMs: number | (() => number);
  /**
   * Deletes rows in any order. For a column whose index is unordered, such as a BRIN: to find the oldest, every
   * statement would read all expired rows.
   */
  readonly unordered?: true;
  /** Rows per statement: keeps its locks and its log short. */
  readonly batch?: number;
  readonly everyMs?: number;
}

interface Dependencies {
  readonly runner: Runner;
  readonly pool: Pool;
  readonly clock: Clock;
}

/** Deletes expired rows, with one worker for each rule. Several instances share the work. */
export function startRetention({ runner, pool, clock }: Dependencies, rules: readonly RetentionRule[]): void {
  for (const rule of rules) {
    const { name, keepMs, values = [], batch = 1_000, everyMs = minutes(1) } = rule;
    const statement = deletionOf(rule, batch);
    runner.housekeeping(name, everyMs, async () => {
      const kept = typeof keepMs === "function" ? keepMs() : keepMs;
      const { rowCount } = await pool.query(statement, [new Date(clock.nowMs() - kept), ...values]);
      return rowCount === batch ? "again" : "done";
    });
  }
}

/** Locked rows are left for the next time: another instance may be deleting them. */
function deletionOf({ table, column, condition, unordered }: RetentionRule, batch: number): Statement {
  const chosen = condition === undefined ? "" : ` and (${condition})`;
  const order = unordered ? "" : ` order by ${column}`;
  return sql(
    "",
    `delete from ${table} where ctid = any (array(
       select ctid from ${table} where ${column} <= $1${chosen}${order} limit ${batch} for update skip locked))`,
  );
}
