import { AppError } from "@signalbox/core";
import pg from "pg";
import { breaksConnection } from "./errors.ts";

type Waiter = (error: Error | undefined, client: pg.PoolClient | undefined, release: (error?: unknown) => void) => void;

/**
 * pg's pool with two corrections that Prisma gets too, because it is handed this very pool. The queue of waiters is
 * bounded: an overload answers 503 at once and does not grow memory. A statement that fails (a unique violation, say)
 * keeps its connection, where pg-pool would close it and pay for a new one.
 */
export class BoundedPool extends pg.Pool {
  readonly #waitingMax: number;

  constructor(options: pg.PoolConfig & { waitingMax: number }) {
    super(options);
    this.#waitingMax = options.waitingMax;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(waiter: Waiter): void;
  override connect(waiter?: Waiter): Promise<pg.PoolClient> | undefined {
    if (this.waitingCount < this.#waitingMax) return waiter ? void super.connect(waiter as never) : super.connect();
    const refusal = new AppError("unavailable", "The service is too busy right now.", {
      retryAfterSeconds: 1,
      cause: new Error(`${this.waitingCount} statements already wait for one of ${this.totalCount} connections`),
    });
    if (!waiter) return Promise.reject(refusal);
    waiter(refusal, undefined, () => {});
    return undefined;
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares this method with eight overloads; the promise forms are the ones in use
  override async query(...given: any[]): Promise<any> {
    const client = await this.connect();
    try {
      const result = await (client.query as (...parameters: unknown[]) => Promise<unknown>)(...given);
      client.release();
      return result;
    } catch (error) {
      client.release(breaksConnection(error));
      throw error;
    }
  }
}
