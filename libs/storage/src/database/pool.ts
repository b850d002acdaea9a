import { seconds } from "@signalbox/core";
import type { Logger, Metrics, ShutdownHooks } from "@signalbox/runtime";
import pg from "pg";
import { BoundedPool } from "./bounded-pool.ts";
import { ConnectionWatchdog } from "./connection-watchdog.ts";
import { toAppError } from "./errors.ts";
import { type Queryable, type Rows, type Statement, send } from "./prepared-statement.ts";
import { ServerRole } from "./server-role.ts";
import { createTransactionGate, type TransactionGate } from "./transaction-gate.ts";
import { createWriteQueue, type WriteQueue } from "./write-queue.ts";

const { builtins } = pg.types;
const utcText = (text: string) => new Date(`${text.replace(" ", "T")}Z`);

/**
 * Conversion of column values to JavaScript. `int8` is always `bigint`: a `number` would be wrong past 2^53, and a mix
 * of both would be wrong silently; write `count(*)::int` for a number. A `timestamp` without zone is UTC, because
 * Prisma writes it so; pg would read it in the zone of the process. A `date` stays text: it has no instant.
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

// Writes a `Date` to a `timestamp` column in UTC too. The setting is global to pg; only this module sets it.
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
  /** Returns null when the database answers and accepts writes, else a sentence that says why not. */
  health(): Promise<string | null>;
  /** Waits for pending statements and closes; the runner calls it. A second call does nothing. */
  close(): Promise<void>;
}

export interface PoolOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** Maximum number of connections. */
  readonly max: number;
  /** Shown in pg_stat_activity and in the label of the metrics. */
  readonly applicationName: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly runner: ShutdownHooks;
  /**
   * Number of statements that may wait for a connection; more are refused with `unavailable`. Default 50 per
   * connection.
   */
  readonly waitingMax?: number;
  readonly connectTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
  /** Time that a statement waits for a lock; absent for as long as the statement may run. */
  readonly lockTimeoutMs?: number;
  /**
   * Times after which a silent server is given up; see `ConnectionWatchdog`. Their sum is below the three seconds that a
   * caller may wait.
   */
  readonly silence?: { readonly quietMs: number; readonly probeMs: number };
  /** Time between two statements of a transaction after which the server ends it. */
  readonly idleInTransactionTimeoutMs?: number;
}

/**
 * One connection in four is reserved from transactions: reads and combined writes, which never wait for locks, always
 * find one.
 */
const transactionsOf = (connections: number): number => connections - Math.floor(connections / 4);

/**
 * Opens a pool and registers its close with the runner. Connects at the first statement: an unreachable database is no
 * error here.
 */
export function openPool(options: PoolOptions): Pool {
  const { log, applicationName, statementTimeoutMs = 15_000 } = options;
  const { connectTimeoutMs = 5_000, waitingMax = options.max * 50 } = options;
  const server = { connectionString: options.url, application_name: applicationName };
  const watch = new ConnectionWatchdog({ quietMs: 800, probeMs: 1_800, ...options.silence, connection: server, log });
  const driver = new BoundedPool({
    ...server,
    max: options.max,
    waitingMax,
    watch,
    role: new ServerRole(applicationName, log),
    onWaited: watchWaits(options.metrics, applicationName),
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: 1_800,
    statement_timeout: statementTimeoutMs,
    ...(options.lockTimeoutMs === undefined ? {} : { lock_timeout: options.lockTimeoutMs }),
    query_timeout: statementTimeoutMs + seconds(2), // for a server that is alive but has lost this statement
    idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? 30_000,
    keepAlive: true,
    // now() in a timestamp without zone is UTC, as Prisma expects. Without the search path a role named signalbox would
    // find the libraries' schema of that name before public. Workers for one read would take the processors of others,
    // and cost a short one more than they save.
    options: "-c TimeZone=UTC -c search_path=public -c max_parallel_workers_per_gather=0",
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
      isWritable(driver).then(
        (writable) => (writable ? null : "the database accepts no writes: it is a standby or set to read-only"),
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

async function isWritable(driver: BoundedPool): Promise<boolean> {
  const client = await driver.connect();
  let isKept = false;
  try {
    isKept = await driver.role.isWritable(client);
    return isKept;
  } finally {
    client.release(!isKept);
  }
}

const watched = new WeakMap<Metrics, Map<string, pg.Pool>>();

/** Publishes the numbers of used and idle connections and of waiting requests, read at each scrape. */
function watchPool(metrics: Metrics, name: string, pool: pg.Pool): void {
  const pools = watched.get(metrics) ?? startWatching(metrics);
  pools.set(name, pool);
}

function startWatching(metrics: Metrics): Map<string, pg.Pool> {
  const pools = new Map<string, pg.Pool>();
  watched.set(metrics, pools);
  metrics.gauge("signalbox_database_connections", (gauge) => {
    for (const [pool, { totalCount, idleCount, waitingCount }] of pools) {
      gauge.set({ pool, state: "in_use" }, totalCount - idleCount);
      gauge.set({ pool, state: "idle" }, idleCount);
      gauge.set({ pool, state: "waiting" }, waitingCount);
    }
  });
  return pools;
}

/** Publishes the waiting time of requests that found no idle connection. */
function watchWaits(metrics: Metrics, pool: string): (waitedMs: number) => void {
  const waited = metrics.histogram("signalbox_database_wait_seconds");
  return (waitedMs) => waited.observe({ pool }, waitedMs / 1000);
}
