import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { processTree } from "@signalbox/infra/engines/processes.ts";
import { type Dispatcher, Pool } from "undici";

/** Returns the value below which this share of the samples lies. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (samples: readonly number[]): number => percentile(samples, 0.5);
export const rounded = (value: number): number => Math.round(value * 10) / 10;
export const hundredths = (value: number): number => Math.round(value * 100) / 100;

export const summaryOf = (waitsMs: readonly number[]) => ({
  p50Ms: rounded(median(waitsMs)),
  p99Ms: rounded(percentile(waitsMs, 0.99)),
});

/** Returns the middle of each figure over the samples: one pause of the machine says nothing. */
export function medians<Name extends string>(samples: readonly Readonly<Record<Name, number>>[]): Record<Name, number> {
  const names = Object.keys(samples[0] ?? {}) as Name[];
  const middles = names.map((name) => [name, hundredths(median(samples.map((sample) => sample[name])))]);
  return Object.fromEntries(middles) as Record<Name, number>;
}

/** Measures a call in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** Measures calls one after the other, each in milliseconds. */
export async function waitsOf(count: number, pauseMs: number, work: () => Promise<unknown>): Promise<number[]> {
  const waitsMs: number[] = [];
  while (waitsMs.length < count) {
    waitsMs.push(await timed(work));
    await sleep(pauseMs);
  }
  return waitsMs;
}

/** Reads the processor time of a process and its children, in milliseconds (proc(5), stat: in hundredths of a second). */
export async function cpuMsOf(pid: number): Promise<number> {
  const used = (await processTree(pid)).map(async (one) => {
    const text = await readFile(`/proc/${one}/stat`, "latin1").catch(() => "");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    // User and system time, its own and that of ended children.
    return [11, 12, 13, 14].reduce((sum, at) => sum + 10 * Number(fields[at] ?? 0), 0);
  });
  return (await Promise.all(used)).reduce((sum, one) => sum + one, 0);
}

/** Reads the resident, the proportional or the anonymous MiB of these processes (proc(5), smaps_rollup). */
export async function memoryOf(size: "Rss" | "Pss" | "Anonymous", pids: readonly number[]): Promise<number> {
  let kib = 0;
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
    kib += Number(new RegExp(`^${size}: +(\\d+)`, "m").exec(text)?.[1] ?? 0);
  }
  return rounded(kib / 1024);
}

/** The resident MiB of a process and its children. */
export const residentMiBOf = async (pid: number): Promise<number> => memoryOf("Rss", await processTree(pid));

export interface LoadRequest {
  readonly method?: Dispatcher.HttpMethod;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Load {
  readonly origin: string;
  /** Rate at even intervals, each request independent of the earlier ones; null for as many as all connections carry. */
  readonly perSecond: number | null;
  readonly seconds: number;
  readonly connections: number;
  /** Creates the request due at that moment, in milliseconds of `performance.now()`. */
  readonly next: (dueMs: number) => LoadRequest;
}

export interface LoadResult {
  /** Number of answers by status; 0 is a broken connection. */
  readonly statuses: Readonly<Record<number, number>>;
  /** From the moment when each request was due to the end of its answer, including any wait for a connection. */
  readonly latenciesMs: readonly number[];
  readonly seconds: number;
}

/** Sends requests, whatever they are answered. */
export async function load({ origin, perSecond, seconds, connections, next }: Load): Promise<LoadResult> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const statuses: Record<number, number> = {};
  const latenciesMs: number[] = [];
  const startedMs = performance.now();
  const send = async (dueMs: number) => {
    const status = await answered(pool, next(dueMs));
    statuses[status] = (statuses[status] ?? 0) + 1;
    latenciesMs.push(performance.now() - dueMs);
  };
  if (perSecond === null) {
    const lane = async () => {
      while (performance.now() < startedMs + seconds * 1_000) await send(performance.now());
    };
    await Promise.all(Array.from({ length: connections }, lane));
  } else {
    const sent: Promise<void>[] = [];
    const dueMs = () => startedMs + (sent.length * 1_000) / perSecond;
    while (sent.length < perSecond * seconds) {
      while (dueMs() <= performance.now() && sent.length < perSecond * seconds) sent.push(send(dueMs()));
      await sleep(1);
    }
    await Promise.all(sent);
  }
  const took = (performance.now() - startedMs) / 1_000;
  await pool.close();
  return { statuses, latenciesMs, seconds: took };
}

/** Sends requests that must succeed, and returns the latencies. */
export async function successes(wanted: Load): Promise<readonly number[]> {
  const { statuses, latenciesMs } = await load(wanted);
  const failed = Object.keys(statuses).filter((status) => Number(status) < 200 || Number(status) >= 300);
  if (failed.length > 0) throw new Error(`requests were answered ${failed}`);
  return latenciesMs;
}

/** The lowest-level call of the library, so that the load takes little time itself. */
function answered(pool: Pool, { method = "GET", path, headers, body }: LoadRequest): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let status = 0;
  pool.dispatch(
    { method, path, headers, body: body ?? null },
    {
      onRequestStart: () => {},
      onResponseStart: (_controller, started) => {
        status = started;
      },
      onResponseData: () => {},
      onResponseEnd: () => resolve(status),
      onResponseError: () => resolve(0),
    },
  );
  return promise;
}
