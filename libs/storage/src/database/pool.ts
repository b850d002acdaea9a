import { seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import type { Logger, Metrics } from "@signalbox/telemetry";
import pg from "pg";
import { BoundedPool } from "./bounded-pool.ts";
import { toAppError } from "./errors.ts";
import { watchPool, watchWaits } from "./pool-metrics.ts";
import { send } from "./send.ts";
import { SilenceWatch } from "./silence-watch.ts";
import type { Queryable, Rows, Statement } from "./statement.ts";
import { createTransactionGate, type TransactionGate } from "./transaction-gate.ts";
import { createWriteQueue, type WriteQueue } from "./write-queue.ts";

const { builtins } = pg.types;
const utcText = (text: string) => new Date(`${text.replace(" ", "T")}Z`);

/**
 * How column values become JavaScript. `int8` is `bigint`, always: a `number` would be wrong past 2^53 and a mix of both
 * would be wrong in silence; say `count(*)::int` where a number is wanted. A `timestamp` without zone is UTC, because
 * that is what Prisma writes; pg would read it in the zone of the process. A `date` stays text: it has no instant.
 */
const parsers = new Map<number, (text: string) => unknown>([
  [builtins.INT8, BigInt],
  [builtins.TIMESTAMP, (text) => (text.includes("infinity") ? text : utcText(text))],
  [builtins.DATE, (text) => text],
]);

const valueParsing: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    (format !== "binary" && parsers.get(oid)) ||
    pg.types.getTypeParser(oid, format as "text")) as pg.CustomTypesConfig["getTypeParser"],
};

// A `Date` given for a `timestamp` column is written in UTC too. The setting is global to pg and we are its only home.
pg.defaults.parseInputDatesAsUTC = true;

/** The connections of one service to its database. Prisma (through `prismaAdapter`) and raw statements share them. */
export interface Pool extends Queryable {
  /** pg's own pool, for `prismaAdapter` and `inTransaction`; not for statements. */
  readonly driver: BoundedPool;
  /** For `inOneStatement`. */
  readonly writes: WriteQueue;
  /** For `inTransaction`. */
  readonly transactions: TransactionGate;
  readonly log: Logger;
  /** null when a statement gets through, else a sentence that says why not. */
  health(): Promise<string | null>;
  /** Waits for what is under way and closes; the runner calls it. A second call does nothing. */
  close(): Promise<void>;
}

export interface PoolOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** Connections at most. */
  readonly max: number;
  /** Shown in pg_stat_activity and as the label of the metrics. */
  readonly applicationName: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly runner: Pick<Runner, "defer">;
  /** Statements that may wait for a connection before more are refused with `unavailable`. Default 50 per connection. */
  readonly waitingMax?: number;
  readonly connectTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
  /** How long a statement waits for a lock that somebody else has. Left out, for as long as it may run. */
  readonly lockTimeoutMs?: number;
  /** When a server that answers nothing is given up; see `SilenceWatch`. Together below the three seconds that a caller may wait. */
  readonly silence?: { readonly patienceMs: number; readonly probeMs: number };
  /** How long a transaction may sit between two statements before the server ends it. */
  readonly idleInTransactionTimeoutMs?: number;
}

/** One connection in four is never a transaction's: reads and joined writes, which wait for nobody, always find one. */
const transactionsOf = (connections: number): number => connections - Math.floor(connections / 4);

/** Opens a pool and hands its close to the runner. Connects on the first statement: an absent database is no error here. */
export function openPool(options: PoolOptions): Pool {
  const { log, applicationName, statementTimeoutMs = 15_000 } = options;
  const { connectTimeoutMs = 5_000, waitingMax = options.max * 50 } = options;
  const server = { connectionString: options.url, application_name: applicationName };
  const watch = new SilenceWatch({ patienceMs: 800, probeMs: 1_800, ...options.silence, connection: server, log });
  const driver = new BoundedPool({
    ...server,
    max: options.max,
    waitingMax,
    watch,
    onWaited: watchWaits(options.metrics, applicationName),
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: 1_800,
    statement_timeout: statementTimeoutMs,
    ...(options.lockTimeoutMs === undefined ? {} : { lock_timeout: options.lockTimeoutMs }),
    query_timeout: statementTimeoutMs + seconds(2), // for a server that lives and has lost this statement
    idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? 30_000,
    keepAlive: true,
    // now() written to a timestamp without zone is UTC, as Prisma expects. Without the search path a role that is named
    // signalbox would find the libraries' schema of that name before public.
    options: "-c TimeZone=UTC -c search_path=public",
    types: valueParsing,
  });
  // Without listeners a broken idle connection would end the process.
  driver.on("error", (error) => log.warn({ error, pool: applicationName }, "an idle database connection broke"));
  driver.on("connect", (client) => client.on("error", () => {}));
  watchPool(options.metrics, applicationName, driver);

  let closing: Promise<void> | undefined;
  const query = <Row>(statement: Statement, values?: readonly unknown[]): Promise<Rows<Row>> =>
    send<Row>(driver, statement, values).catch((error: unknown) => {
      throw toAppError(error);
    });
  const pool: Pool = {
    driver,
    writes: createWriteQueue({ query }, waitingMax),
    transactions: createTransactionGate({ max: transactionsOf(options.max), waitingMax, waitMs: connectTimeoutMs }),
    log,
    query,
    health: () =>
      driver.query("select 1").then(
        () => null,
        (error: Error) => `the database does not answer: ${error.message}`,
      ),
    close: () => {
      closing ??= driver.end().finally(() => watch.close());
      return closing;
    },
  };
  options.runner.defer(`database pool ${applicationName}`, pool.close);
  return pool;
}
