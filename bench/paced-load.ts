import { setTimeout as sleep } from "node:timers/promises";
import { type Dispatcher, Pool } from "undici";

export interface PacedRequest {
  readonly method?: Dispatcher.HttpMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface PacedLoad {
  readonly url: string;
  readonly perSecond: number;
  readonly seconds: number;
  readonly connections: number;
  /** Makes the request that is due at that moment, in milliseconds of `performance.now()`. */
  readonly next: (dueMs: number) => PacedRequest;
}

/**
 * Sends requests at even distances, each at its own moment whatever became of the earlier ones, and gives for each in turn
 * the milliseconds from that moment to the end of the answer: a request that had to wait its turn has waited.
 */
export async function pacedLoad({ url, perSecond, seconds, connections, next }: PacedLoad): Promise<number[]> {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const answers: Promise<number>[] = [];
  const startedMs = performance.now();
  const dueMs = (index: number) => startedMs + (index * 1000) / perSecond;
  while (answers.length < perSecond * seconds) {
    for (let due = dueMs(answers.length); due <= performance.now(); due = dueMs(answers.length))
      answers.push(timed(pool, path, next(due), due));
    await sleep(1);
  }
  const latenciesMs = await Promise.all(answers);
  await pool.close();
  return latenciesMs;
}

function timed(pool: Pool, path: string, request: PacedRequest, dueMs: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const { method = "GET", headers, body = null } = request;
  // The lowest door of the library: what is measured is the service, beside a load that costs little.
  pool.dispatch(
    { path, method, headers, body },
    {
      onRequestStart: () => {},
      onResponseStart: (_controller, status) => {
        if (status >= 400) reject(new Error(`answered ${status}`));
      },
      onResponseData: () => {},
      onResponseEnd: () => resolve(performance.now() - dueMs),
      onResponseError: (_controller, error) => reject(error),
    },
  );
  return promise;
}
