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
  /** Creates the request due at that moment, in milliseconds of `performance.now()`. */
  readonly next: (dueMs: number) => PacedRequest;
}

/**
 * Sends requests at even intervals, each at its own moment independently of the earlier ones, and returns for each in
 * order the milliseconds from that moment to the end of the answer, including any wait for a connection.
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
  // The lowest-level call of the library, so that the load takes little time itself.
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
