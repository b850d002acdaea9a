import { setImmediate as turn } from "node:timers/promises";
import { failureCode, isSqlState, systemClock } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";
import pg from "pg";
import type { ServerRole } from "./server-role.ts";

export interface WatchdogOptions {
  /** Settings of the pool's connections; the watch opens its own probe with them. */
  readonly connection: pg.ClientConfig;
  /** Time without an answer after which the server is probed. */
  readonly quietMs: number;
  /** Time that the server has to answer the probe. */
  readonly probeMs: number;
  readonly log: Logger;
}

interface Wait {
  readonly sinceMs: number;
}

const lookMs = 200;
/** Share of a probe that this process may have waited for a processor itself. */
const lateShareMax = 0.1;

/**
 * Detects a server that accepts connections and statements but answers none: halted, or behind a network that drops
 * packets. A long statement looks the same on its own connection, so a new connection decides: when that one gets no
 * answer either, the listeners of `onSilence` are called, and `isSilent` stays true until the server answers again. A
 * process that lacks a processor itself judges nobody: breaking its connections would add to the load.
 */
export class ConnectionWatchdog {
  readonly #options: WatchdogOptions;
  readonly #listeners: (() => void)[] = [];
  readonly #waits = new Set<Wait>();
  readonly #looking: NodeJS.Timeout;
  #heardMs = 0;
  #lookedMs = systemClock.steadyMs();
  /** Time in all by which looks were late. */
  #lateMs = 0;
  #isAsking = false;
  isSilent = false;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#looking = setInterval(() => this.#look(), lookMs).unref();
  }

  onSilence(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Watches a statement until it is answered. */
  duringAnswer(answer: Promise<unknown>): void {
    const wait = this.#wait();
    const heard = () => {
      this.#waits.delete(wait);
      this.#heardMs = systemClock.steadyMs();
    };
    answer.then(heard, (error) => void (isAnswer(error) ? heard() : this.#waits.delete(wait)));
  }

  /** Watches a wait for a connection. Getting one proves nothing about the server, because it may have been idle. */
  duringConnect(connected: Promise<unknown>): void {
    const wait = this.#wait();
    const over = () => void this.#waits.delete(wait);
    connected.then(over, over);
  }

  close(): void {
    clearInterval(this.#looking);
  }

  #wait(): Wait {
    const wait = { sinceMs: systemClock.steadyMs() };
    this.#waits.add(wait);
    return wait;
  }

  #look(): void {
    const nowMs = systemClock.steadyMs();
    this.#lateMs += Math.max(0, nowMs - this.#lookedMs - lookMs);
    this.#lookedMs = nowMs;
    if (this.#isAsking || !(this.isSilent || this.#isOverdue())) return;
    this.#isAsking = true;
    void this.#ask().finally(() => {
      this.#isAsking = false;
    });
  }

  /** Returns true when a statement waits and nothing was heard for longer than the limit. */
  #isOverdue(): boolean {
    const [longest] = this.#waits; // a Set keeps the order of insertion
    if (longest === undefined) return false;
    return systemClock.steadyMs() - Math.max(longest.sinceMs, this.#heardMs) > this.#options.quietMs;
  }

  async #ask(): Promise<void> {
    const [startedMs, lateMs] = [systemClock.steadyMs(), this.#lateMs];
    const answers = await this.#isAnswered();
    if (!answers) await turn(); // after a pause of this process its timers fire before its sockets are read
    const isSlowItself = this.#lateMs - lateMs > this.#options.probeMs * lateShareMax;
    if (answers || this.#heardMs > startedMs) this.#hear();
    else if (!isSlowItself) this.#miss();
  }

  async #isAnswered(): Promise<boolean> {
    const client = new pg.Client({ ...this.#options.connection, connectionTimeoutMillis: this.#options.probeMs });
    client.on("error", () => {});
    return client.connect().then(
      () => {
        void client.end().catch(() => {});
        return true;
      },
      (error) => isAnswer(error),
    );
  }

  #hear(): void {
    this.#heardMs = systemClock.steadyMs();
    if (!this.isSilent) return;
    this.isSilent = false;
    this.#options.log.info({ pool: this.#options.connection.application_name }, "the database answers again");
  }

  #miss(): void {
    if (this.isSilent) return;
    this.isSilent = true;
    this.#options.log.warn(
      { pool: this.#options.connection.application_name },
      "the database accepts statements but does not answer; its connections were closed",
    );
    for (const listener of this.#listeners) listener();
  }
}

/** A refusal with an SQLSTATE comes from a living server. */
const isAnswer = (error: unknown): boolean => isSqlState(failureCode(error));

/** Creates a client class of the driver whose statements are watched. */
export function watchedClient(
  watch: ConnectionWatchdog,
  role: ServerRole,
): new (
  config?: pg.ClientConfig,
) => pg.Client {
  return class extends pg.Client {
    // biome-ignore lint/suspicious/noExplicitAny: pg declares this method with eight overloads; the promise forms are the ones in use
    override query(...given: any[]): any {
      const answer = (super.query as (...parameters: unknown[]) => unknown)(...given);
      if (answer instanceof Promise) {
        watch.duringAnswer(answer);
        answer.catch((error: unknown) => role.noteFailure(this, error));
      }
      return answer;
    }
  };
}
