import { AppError, seconds } from "@signalbox/core";
import { type Dispatcher, Pool } from "undici";

interface InternalClientOptions {
  /** Base URL of the other service's internal listener; a path prefix is kept. */
  readonly url: string;
  /** Headers of every request, the internal token among them. Read each time, so that a rotation needs no restart. */
  readonly headers: () => Record<string, string>;
  /** Largest number of sockets to the service. Further requests wait. */
  readonly connections?: number;
  readonly deadlineMs: number;
  readonly responseBytesMax: number;
}

export interface InternalAnswer {
  readonly status: number;
  readonly body: Buffer;
}

export interface InternalClient {
  /**
   * Sends JSON with POST.
   * @throws AppError `unavailable` when the service does not answer within the deadline, or the signal aborts
   */
  post(
    path: string,
    body: string | Buffer,
    headers?: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<InternalAnswer>;
  /**
   * Sends GET, and repeats it once when the connection broke.
   * @throws AppError `unavailable`, as `post` does
   */
  get(path: string, headers?: Record<string, string>, signal?: AbortSignal): Promise<InternalAnswer>;
  close(): Promise<void>;
}

/**
 * Idle time after which a connection is closed. Shorter than a stopping service keeps it open (`shutdown.keep-alive`),
 * or a request would now and then meet a closing connection.
 */
const idleMs = seconds(2);

/**
 * Creates a client of another of our services, on its internal listener. Not for addresses from outside: it has no
 * guard, because our services have private addresses.
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
    keepAliveTimeout: idleMs,
    // The service's own keep-alive hint is ignored.
    keepAliveMaxTimeout: idleMs,
  });
  async function exchange(request: Request) {
    try {
      const headers = { ...options.headers(), ...request.headers };
      return await new Promise<InternalAnswer>((resolve, reject) => {
        const handler = new AnswerCollector(resolve, reject, request.signal ?? null);
        pool.dispatch({ method: request.method, path: prefix + request.path, body: request.body, headers }, handler);
      });
    } catch (cause) {
      const message = "A service that this request needs does not respond.";
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
        signal,
      }),
    get: (path, headers = {}, signal) =>
      sendTwice(() => exchange({ method: "GET", path, body: null, headers, signal })),
    close: () => pool.close(),
  };
}

const connectionLost = /^(ECONNREFUSED|ECONNRESET|EPIPE|UND_ERR_SOCKET)$/;

/**
 * Sends a repeatable request, and repeats it once when its connection broke or a proxy could not reach the service: one
 * of several instances may be gone. A slow service is not asked again.
 */
export async function sendTwice(send: () => Promise<InternalAnswer>): Promise<InternalAnswer> {
  try {
    const answer = await send();
    if (answer.status !== 502 && answer.status !== 503) return answer;
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { readonly code?: unknown };
    if (typeof code !== "string" || !connectionLost.test(code)) throw error;
  }
  return send();
}

interface Request {
  readonly method: Dispatcher.HttpMethod;
  readonly path: string;
  readonly body: string | Buffer | null;
  readonly headers: Record<string, string>;
  readonly signal?: AbortSignal | undefined;
}

/** Collects an answer as it arrives, without the stream that `request` of the library creates. */
class AnswerCollector implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: InternalAnswer) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #signal: AbortSignal | null;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;

  constructor(
    resolve: (answer: InternalAnswer) => void,
    reject: (reason: unknown) => void,
    signal: AbortSignal | null,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Rejects at once. A request that still waits for a connection is aborted in its turn. */
  readonly #onAbort = (): void => {
    this.#reject(this.#signal?.reason);
    this.#controller?.abort(this.#signal?.reason);
  };

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal?.aborted) controller.abort(this.#signal.reason);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#release();
    const [first] = this.#chunks;
    const body = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#resolve({ status: this.#status, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#release();
    this.#reject(error);
  }

  #release(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}
