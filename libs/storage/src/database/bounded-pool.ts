import { setTimeout as sleep } from "node:timers/promises";
import { seconds, systemClock } from "@signalbox/core";
import pg from "pg";
import { type ConnectionWatchdog, watchedClient } from "./connection-watchdog.ts";
import { breaksConnection, databaseAway, markUnsent, tooBusy } from "./errors.ts";
import type { ServerRole } from "./server-role.ts";

type Waiter = (error: Error | undefined, client: pg.PoolClient | undefined, release: (error?: unknown) => void) => void;

/** A server that no longer answers does not end connections either. */
const goodbyeMs = seconds(2);

interface BoundedPoolOptions {
  readonly waitingMax: number;
  readonly watch: ConnectionWatchdog;
  readonly role: ServerRole;
  /** Receives the waiting time of each request that found no idle connection. */
  readonly onWaited: (waitedMs: number) => void;
}

/**
 * pg's pool with corrections that Prisma shares, because it gets this very pool. The queue of waiters is bounded: an
 * overload answers 503 at once and does not grow memory. A failed statement (such as a unique violation) keeps its
 * connection, where pg-pool would close it and pay for a new one. The end of the pool waits for the end of its
 * connections, where pg-pool only requests it: a server that stops next would find and break them. A silent server does
 * not cost each caller the whole `statement_timeout`: its connections are closed, and waiting and new requests are
 * refused until it answers again. Connections to a server that was demoted are closed, not used again.
 */
export class BoundedPool extends pg.Pool {
  readonly role: ServerRole;
  readonly #waitingMax: number;
  readonly #open = new Set<pg.PoolClient>();
  readonly #watch: ConnectionWatchdog;
  readonly #waiting = new Set<(refusal: Error) => void>();
  readonly #onWaited: (waitedMs: number) => void;
  #lastGone = () => {};

  constructor({ waitingMax, watch, role, onWaited, ...options }: pg.PoolConfig & BoundedPoolOptions) {
    super({ ...options, Client: watchedClient(watch, role) });
    this.role = role;
    this.#onWaited = onWaited;
    this.#waitingMax = waitingMax;
    this.#watch = watch;
    watch.onSilence(() => this.#breakAll());
    this.on("connect", (client) => void this.#open.add(client));
    this.on("remove", (client) => {
      this.#open.delete(client);
      if (this.#open.size === 0) this.#lastGone();
    });
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(waiter: Waiter): void;
  override connect(waiter?: Waiter): Promise<pg.PoolClient> | undefined {
    const taken = this.#take();
    if (!waiter) return taken;
    taken.then(
      (client) => waiter(undefined, client, (error) => client.release(error as Error | boolean | undefined)),
      (error: Error) => waiter(error, undefined, () => {}),
    );
    return undefined;
  }

  /** Takes a connection whose server may be used. Ends: each one that may not is closed, and a new one always may. */
  async #take(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await this.#takeAny();
      const isAdmitted = await this.role.admits(client).catch((error: Error) => {
        client.release(true);
        throw markUnsent(error);
      });
      if (isAdmitted) return client;
      client.release(true);
    }
  }

  async #takeAny(): Promise<pg.PoolClient> {
    if (this.#watch.isSilent) throw databaseAway("it does not answer");
    if (this.waitingCount >= this.#waitingMax)
      throw tooBusy(`${this.waitingCount} statements already wait for one of ${this.totalCount} connections`);
    const { promise, resolve, reject } = Promise.withResolvers<pg.PoolClient>();
    this.#waiting.add(reject);
    const startedMs = this.idleCount === 0 ? systemClock.steadyMs() : null;
    super.connect().then(
      (client) => {
        if (startedMs !== null) this.#onWaited(systemClock.steadyMs() - startedMs);
        if (this.#waiting.delete(reject)) resolve(client);
        else client.release();
      },
      (error: Error) => void (this.#waiting.delete(reject) && reject(markUnsent(error))),
    );
    this.#watch.duringConnect(promise);
    return promise;
  }

  /**
   * Pending statements fail as on a broken connection; idle connections are closed too, because they may be half open.
   */
  #breakAll(): void {
    for (const refuse of this.#waiting) refuse(databaseAway("it stopped answering"));
    this.#waiting.clear();
    for (const client of this.#open) (client as unknown as { connection: pg.Connection }).connection.stream.destroy();
  }

  override end(): Promise<void>;
  override end(callback: () => void): void;
  override end(callback?: () => void): Promise<void> | undefined {
    const ended = super.end().then(() => this.#goodbyes());
    if (!callback) return ended;
    void ended.then(callback);
    return undefined;
  }

  async #goodbyes(): Promise<void> {
    if (this.#open.size === 0) return;
    const allGone = new Promise<void>((resolve) => {
      this.#lastGone = resolve;
    });
    await Promise.race([allGone, sleep(goodbyeMs, undefined, { ref: false })]);
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
