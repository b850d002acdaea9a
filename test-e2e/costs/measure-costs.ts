import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openPool, type Pool, sql } from "@signalbox/storage";
import { createReceiver, eventually, testContext } from "@signalbox/testing";
import { createClient, expectStatus } from "../journey/client.ts";
import { newDataDirectory, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { type HotOperation, prepareHotOperations } from "./hot-operations.ts";

const calls = 12;
const warmUps = 5;
/** Long enough for each periodic statement of the workers. */
const idleMs = 15_000;
const quietMs = 300;

/** The cost of one call of an operation, with what it causes behind the answer. */
export interface OperationCost {
  readonly operation: HotOperation;
  readonly roundTrips: number;
  readonly walKiB: number;
  /** The different statements that each call sends, shortened. */
  readonly statements: readonly string[];
}

/**
 * Calls each operation on an embedded system of its own, and reads the statements from pg_stat_statements. A call begins
 * when all that the last one caused is done: no two share a round trip, so that the count does not depend on how fast
 * the machine is. What an idle system sends as well is not counted, since how often workers ask depends on time; nor is
 * the begin and the end of a transaction that holds nothing else.
 */
export async function measureCosts(): Promise<OperationCost[]> {
  await using opened = new AsyncDisposableStack();
  const receiver = await createReceiver();
  opened.defer(() => receiver.close());
  const dataDirectory = await newDataDirectory();
  opened.defer(() => removeData({ dataDirectory }));
  const properties = { "webhook-delivery.outbound.allow": `127.0.0.1:${receiver.port}` };
  const first = await startEmbeddedSystem({ dataDirectory, properties });
  await alter(first.databaseUrl("account"));
  await first.stop();
  const system = await startEmbeddedSystem({ dataDirectory, properties });
  opened.defer(async () => void (await system.process.kill()));
  await using pool = openStatistics(system.databaseUrl("account"));
  await pool.query(sql("", "create extension pg_stat_statements"));
  const transactions = followTransactions(await logFile(pool));
  const idle = await sentIdle(pool);
  const operations = await prepareHotOperations(system, receiver.url);
  const send = createClient(system.baseUrl, system.apiKey);
  const call = async ({ next, status }: HotOperation) => expectStatus(await send(...next()), status);
  for (const operation of operations) await repeat(warmUps, () => call(operation));
  const costs: OperationCost[] = [];
  for (const operation of operations) {
    let before = await settled(pool, idle);
    await transactions.read(idle);
    const sent: Counted[][] = [];
    await repeat(calls, async () => {
      await call(operation);
      const after = await settled(pool, idle);
      sent.push([...since(before, after).filter(({ id }) => !idle.has(id)), ...(await transactions.read(idle))]);
      before = after;
    });
    costs.push(costOf(operation, sent));
  }
  return costs;
}

async function repeat(times: number, work: () => Promise<unknown>): Promise<void> {
  for (let count = 0; count < times; count++) await work();
}

/** Loads the extension at the next start, and logs each statement with its session, its database and its id. */
async function alter(url: string): Promise<void> {
  await using pool = openStatistics(url);
  await pool.query(sql("", "alter system set shared_preload_libraries = 'pg_stat_statements'"));
  await pool.query(sql("", "alter system set log_min_duration_statement = 0"));
  await pool.query(sql("", "alter system set log_line_prefix = '%p %d/%Q '"));
}

const showDataFolder = sql("", "select current_setting('data_directory') as folder");

async function logFile(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ folder: string }>(showDataFolder, []);
  return join(dirname(rows[0]?.folder ?? ""), "postgres.log");
}

function openStatistics(url: string) {
  const context = testContext("account", {});
  const pool = openPool({ ...context, url, max: 1, applicationName: "costs" });
  return Object.assign(pool, { [Symbol.asyncDispose]: () => context.close() });
}

/** Calls of a statement since the start, and what they wrote. */
interface Counted {
  readonly id: string;
  readonly text: string;
  readonly calls: number;
  readonly walBytes: number;
}

type Counts = ReadonlyMap<string, Counted>;

/** The begin and the end of transactions are counted by the log, which says what each of them holds. */
const countStatements = sql(
  "",
  `select datname || '/' || queryid as id, query as text, calls::int as calls, wal_bytes::float8 as "walBytes"
   from pg_stat_statements join pg_database on pg_database.oid = dbid where query not like '%pg_stat_statements%'
     and query not like 'select pg_current_xact_id%' and query !~ '^(begin|commit|rollback)'`,
);

async function counted(pool: Pool): Promise<Counts> {
  const { rows } = await pool.query<Counted>(countStatements, []);
  return new Map(rows.map((row) => [row.id, row]));
}

function since(earlier: Counts, later: Counts): Counted[] {
  return [...later.values()].flatMap((now) => {
    const before = earlier.get(now.id) ?? { calls: 0, walBytes: 0 };
    const [grown, written] = [now.calls - before.calls, now.walBytes - before.walBytes];
    return grown > 0 ? [{ ...now, calls: grown, walBytes: written }] : [];
  });
}

/** Lists what a system without requests sends. */
async function sentIdle(pool: Pool): Promise<ReadonlySet<string>> {
  const before = await counted(pool);
  await sleep(idleMs);
  return new Set(since(before, await counted(pool)).map(({ id }) => id));
}

/** Waits until the system sends only what an idle one sends. */
async function settled(pool: Pool, idle: ReadonlySet<string>): Promise<Counts> {
  let last = await counted(pool);
  return await eventually(
    async () => {
      await sleep(quietMs);
      const now = await counted(pool);
      const others = since(last, now).filter(({ id }) => !idle.has(id));
      last = now;
      return others.length === 0 && now;
    },
    { timeoutMs: 60_000, message: "the system is idle again" },
  );
}

const logged = /^(?<session>\d+) (?<id>\S+) LOG: {2}duration: \S+ ms {2}(?:statement|execute [^:]*): (?<word>\w+)/gm;

/**
 * Reads on in the server's log, and counts by database the transactions that held a statement which an idle system does
 * not send. Those of workers are begun every second, so that on a slow machine some of them fall within each call.
 */
function followTransactions(file: string) {
  let offset = 0;
  /** The statements of the transactions that are open, by session. */
  const open = new Map<string, string[]>();
  return {
    async read(idle: ReadonlySet<string>): Promise<Counted[]> {
      const log = await readFile(file, "utf8");
      const whole = log.lastIndexOf("\n") + 1;
      const ends: string[] = [];
      for (const { groups: { session = "", id = "", word = "" } = {} } of log.slice(offset, whole).matchAll(logged)) {
        if (word === "begin") open.set(session, []);
        else if (word !== "commit" && word !== "rollback") open.get(session)?.push(id);
        else if (open.get(session)?.some((held) => !idle.has(held))) ends.push(`${id.split("/")[0]} ${word}`);
      }
      offset = whole;
      return [...Map.groupBy(ends, (end) => end)].flatMap(([end, { length }]) => {
        const [database, word = ""] = end.split(" ");
        return ["begin", word].map((text) => ({ id: `${database}/${text}`, text, calls: length, walBytes: 0 }));
      });
    },
  };
}

/** Takes the least that a call sent: what belongs to a call comes with each, what workers send only now and then. */
function costOf(operation: HotOperation, sent: readonly (readonly Counted[])[]): OperationCost {
  const byId = Map.groupBy(sent.flat(), ({ id }) => id);
  const own = [...byId.values()].flatMap((counts) => {
    if (counts.length < sent.length) return [];
    const least = (of: (one: Counted) => number) => Math.min(...counts.map(of));
    return [{ text: counts[0]?.text ?? "", calls: least((one) => one.calls), walBytes: least((one) => one.walBytes) }];
  });
  const total = (of: (one: (typeof own)[number]) => number) => own.reduce((sum, one) => sum + of(one), 0);
  return {
    operation,
    roundTrips: total((one) => one.calls),
    walKiB: Math.round((total((one) => one.walBytes) / 1024) * 10) / 10,
    statements: [...new Set(own.map(({ text }) => shortened(text)))],
  };
}

const written = /\b(insert into|update|delete from)\s+(?:only\s+)?(?!set\b|skip\b|nowait\b|of\b)([a-z_."]+)/gi;
const read = /\b(?:from|join)\s+(?:only\s+)?(?!unnest\b|given\b|lateral\b)([a-z_."]+)(?!\s*\(|[a-z_."])/gi;

/** Names what a statement writes; else the first table that it reads; else the function that it calls. */
function shortened(text: string): string {
  const writes = [...text.matchAll(written)].map(([, verb, table]) => `${verb} ${table}`.toLowerCase());
  if (writes.length > 0) return [...new Set(writes)].join(" + ");
  const [, table] = text.matchAll(read).next().value ?? [];
  const [, call] = /select\s+([\w.]+)\s*\(/i.exec(text) ?? [];
  const asked = table ?? call;
  return asked === undefined ? text.slice(0, 30) : `select ${asked}`;
}
