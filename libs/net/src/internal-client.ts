import { AppError } from "@signalbox/core";
import { type Dispatcher, Pool } from "undici";

interface InternalClientOptions {
  /** Base URL of the other service's internal listener; a path prefix is kept. */
  readonly url: string;
  /** Headers of every request, the internal token among them. Read for each, so that a rotation needs no restart. */
  readonly headers: () => Record<string, string>;
  /** Sockets kept to the service. More than this many requests at once wait their turn. */
  readonly connections?: number;
  readonly deadlineMs: number;
  readonly responseBytesMax: number;
}

export interface InternalAnswer {
  readonly status: number;
  readonly body: Buffer;
}

export interface InternalClient {
  /** POSTs JSON. @throws AppError `unavailable` when the service does not answer within the deadline, or the signal aborts. */
  post(
    path: string,
    body: string | Buffer,
    headers?: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<InternalAnswer>;
  /** GETs. @throws AppError `unavailable` as `post` does. */
  get(path: string): Promise<InternalAnswer>;
  close(): Promise<void>;
}

/**
 * Calls another of our services over its internal listener. Not for addresses that came from outside: it has no guard,
 * because our services live on private addresses.
 */
export function createInternalClient(options: InternalClientOptions): InternalClient {
  const base = new URL(options.url);
  const prefix = base.pathname.replace(/\/$/, "");
  const pool = new Pool(base.origin, {
    connections: options.connections ?? 32,
    connectTimeout: Math.min(options.deadlineMs, 2_000),
    headersTimeout: options.deadlineMs,
    bodyTimeout: options.deadlineMs,
    maxResponseSize: options.responseBytesMax,
  });
  async function exchange(request: Request) {
    try {
      const answer = await pool.request({
        ...request,
        path: prefix + request.path,
        headers: { ...options.headers(), ...request.headers },
      });
      return { status: answer.statusCode, body: Buffer.from(await answer.body.arrayBuffer()) };
    } catch (cause) {
      const message = "A service that this request needs does not answer.";
      throw new AppError("unavailable", message, { cause, retryAfterSeconds: 2 });
    }
  }

  return {
    post: (path, body, headers = {}, signal) =>
      exchange({
        method: "POST",
        path,
        body,
        headers: { "content-type": "application/json", ...headers },
        signal: signal ?? null,
      }),
    get: (path) => exchange({ method: "GET", path, headers: {} }),
    close: () => pool.close(),
  };
}

interface Request extends Pick<Dispatcher.RequestOptions, "method" | "path" | "body"> {
  readonly headers: Record<string, string>;
  readonly signal?: AbortSignal | null;
}
