import type { Clock } from "@signalbox/core";
import { GracefulShutdown } from "./graceful-shutdown.ts";
import { repeat, repeatLater } from "./repeat.ts";
import type { Pause, Runner, Turn, Work } from "./runner.ts";
import {
  type SupervisedWorker,
  type SupervisionPolicy,
  superviseWorker,
  supervisionPolicy,
  type WorkerState,
} from "./supervise-worker.ts";
import type { Logger } from "./telemetry/logger.ts";

interface RunnerOptions {
  readonly log: Logger;
  readonly clock: Clock;
  /** Time limit of one close. */
  readonly closeMsMax?: number;
  readonly policy?: Partial<SupervisionPolicy>;
}

/** The runner of a process: it also stops, and reports the state of the workers. */
export interface ProcessRunner extends Runner {
  /** Returns a runner with prefixed names, for one of several services in a process. */
  scoped(prefix: string): Runner;
  workers(): WorkerState[];
  /** Returns why the workers need a restart of the process; `null` when they are healthy. */
  trouble(): string | null;
  /** Resolves with the name of the first worker that gave up. */
  readonly gaveUp: Promise<string>;
  /** Counts the requests that are being answered. */
  requestsInHand(): number;
  /** Registers what ends a part at once, where that would outlive a process that does not take the time to stop. */
  onEndAtOnce(end: () => void): void;
  /** Ends at once what would outlive the process. */
  endAtOnce(): void;
  /** Announces the stop. */
  leave(): void;
  /** Drains, ends the workers and closes in reverse. Returns the names of the parts still open at the deadline. */
  stop(deadlineMs: number): Promise<string[]>;
}

/** Creates the runner of a process. */
export function createRunner(options: RunnerOptions): ProcessRunner {
  return new SupervisingRunner(options);
}

class SupervisingRunner implements ProcessRunner {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #policy: SupervisionPolicy;
  readonly #stopSequence: GracefulShutdown;
  readonly #leaving = new AbortController();
  readonly #stopping = new AbortController();
  readonly #gaveUp = Promise.withResolvers<string>();
  readonly #endsAtOnce: (() => void)[] = [];
  readonly #workers: { name: string; worker: SupervisedWorker }[] = [];
  #stopped: Promise<string[]> | undefined;

  constructor({ log, clock, closeMsMax, policy }: RunnerOptions) {
    this.#log = log;
    this.#clock = clock;
    this.#policy = { ...supervisionPolicy, ...policy };
    this.#stopSequence = new GracefulShutdown({ log, clock, closeMsMax });
  }

  get leaving(): AbortSignal {
    return this.#leaving.signal;
  }

  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  get gaveUp(): Promise<string> {
    return this.#gaveUp.promise;
  }

  defer(name: string, close: () => unknown, limit?: { readonly withinMs: number }): void {
    this.#stopSequence.addClose({ name, end: close, withinMs: limit?.withinMs });
  }

  onDrain(name: string, drain: () => unknown, inHand?: () => number): void {
    this.#stopSequence.addDrain({ name, end: drain, inHand });
  }

  worker(name: string, work: Work): void {
    const supervision = { log: this.#log, clock: this.#clock, policy: this.#policy };
    const worker = superviseWorker({ name, work, signal: this.stopping, ...supervision });
    this.#workers.push({ name, worker });
    void worker.ended.then((end) => end === "gave up" && this.#gaveUp.resolve(name));
  }

  every(name: string, pause: Pause, turn: Turn): void {
    this.worker(name, repeat(pause, turn));
  }

  housekeeping(name: string, pauseMs: number, turn: Turn): void {
    this.worker(name, repeatLater(pauseMs, turn));
  }

  scoped(prefix: string): Runner {
    const { leaving, stopping } = this;
    return {
      leaving,
      stopping,
      defer: (name, close, limit) => this.defer(`${prefix}/${name}`, close, limit),
      onDrain: (name, drain, inHand) => this.onDrain(`${prefix}/${name}`, drain, inHand),
      worker: (name, work) => this.worker(`${prefix}/${name}`, work),
      every: (name, pause, turn) => this.every(`${prefix}/${name}`, pause, turn),
      housekeeping: (name, pauseMs, turn) => this.housekeeping(`${prefix}/${name}`, pauseMs, turn),
    };
  }

  onEndAtOnce(end: () => void): void {
    this.#endsAtOnce.push(end);
  }

  endAtOnce(): void {
    for (const end of this.#endsAtOnce) end();
  }

  requestsInHand(): number {
    return this.#stopSequence.inHand();
  }

  workers(): WorkerState[] {
    return this.#workers.map(({ worker }) => worker.state());
  }

  trouble(): string | null {
    for (const { name, state, silentMs } of this.workers()) {
      if (state === "gave up") return `the worker ${name} gave up`;
      const isSilent = silentMs !== null && silentMs > this.#policy.silenceMsMax;
      if (state === "running" && isSilent) return `the worker ${name} is stuck`;
    }
    return null;
  }

  leave(): void {
    this.#leaving.abort();
  }

  stop(deadlineMs: number): Promise<string[]> {
    this.#stopped ??= this.#stop(deadlineMs);
    return this.#stopped;
  }

  #stop(deadlineMs: number): Promise<string[]> {
    this.#leaving.abort();
    this.#stopping.abort();
    const workers = this.#workers.map(({ name, worker }) => ({ name, end: () => worker.ended }));
    return this.#stopSequence.run(deadlineMs, workers);
  }
}
