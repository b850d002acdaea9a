import { type Clock, seconds } from "@signalbox/core";
import type { Logger } from "@signalbox/telemetry";
import { repeat } from "./repeat.ts";
import type { Runner } from "./runner.ts";
import { settleWithin } from "./settle-within.ts";
import {
  type SupervisedWorker,
  type SupervisionPolicy,
  superviseWorker,
  supervisionPolicy,
  type WorkerState,
} from "./supervise-worker.ts";

export interface RunnerOptions {
  readonly log: Logger;
  readonly clock: Clock;
  /** How long one close may take. */
  readonly closeMsMax?: number;
  readonly policy?: Partial<SupervisionPolicy>;
}

/** The runner as the process sees it: it also stops, and knows how the workers are. */
export interface ProcessRunner extends Runner {
  /** A runner whose names carry a prefix, for one of several services in a process. */
  scoped(prefix: string): Runner;
  workers(): WorkerState[];
  /** Why the workers need a restart of the process; `null` when they are well. */
  trouble(): string | null;
  /** Resolves with the name of the first worker that gave up. */
  readonly gaveUp: Promise<string>;
  /** Says that the stop will follow. */
  leave(): void;
  /** Drains, ends the workers and closes in reverse. Returns the names of what was still open at the deadline. */
  stop(deadlineMs: number): Promise<string[]>;
}

/** Drains may use this share of the deadline; the rest is kept for the closes, which must not be skipped. */
const drainShare = 0.8;

/** Creates the runner of a process. */
export function createRunner({ log, clock, closeMsMax = seconds(10), policy }: RunnerOptions): ProcessRunner {
  const rules = { ...supervisionPolicy, ...policy };
  const leaving = new AbortController();
  const abort = new AbortController();
  const closes: { name: string; close: () => unknown }[] = [];
  const drains: { name: string; drain: () => unknown }[] = [];
  const workers: { name: string; worker: SupervisedWorker }[] = [];
  const gaveUp = Promise.withResolvers<string>();
  let stopped: Promise<string[]> | undefined;
  let closed = false;

  const closeOne = async (name: string, close: () => unknown, withinMs: number) => {
    const end = await settleWithin(close, withinMs);
    if (end.state === "failed") log.error({ part: name, error: end.error }, "A part could not be closed");
    if (end.state === "late") log.error({ part: name, waited_ms: withinMs }, "A part did not close in time");
    return end.state !== "late";
  };

  const drainAll = async (withinMs: number): Promise<string[]> => {
    const tasks = [
      ...drains.map(({ name, drain }) => ({ name, wait: drain })),
      ...workers.map(({ name, worker }) => ({ name, wait: () => worker.ended })),
    ];
    const ends = await Promise.all(tasks.map(({ wait }) => settleWithin(wait, withinMs)));
    for (const [index, end] of ends.entries()) {
      if (end.state === "failed")
        log.error({ part: tasks[index]?.name, error: end.error }, "A part could not be drained");
    }
    return tasks.filter((_, index) => ends[index]?.state === "late").map(({ name }) => name);
  };

  const stop = async (deadlineMs: number): Promise<string[]> => {
    const endMs = clock.steadyMs() + deadlineMs;
    leaving.abort();
    abort.abort();
    const open = await drainAll(deadlineMs * drainShare);
    if (open.length > 0) log.error({ open }, "Work in hand was not finished in time");
    for (let part = closes.pop(); part !== undefined; part = closes.pop()) {
      const leftMs = endMs - clock.steadyMs();
      const inTime = leftMs > 0 && (await closeOne(part.name, part.close, Math.min(closeMsMax, leftMs)));
      if (!inTime) open.push(part.name);
    }
    closed = true;
    return open;
  };

  const runner: ProcessRunner = {
    leaving: leaving.signal,
    leave: () => leaving.abort(),
    stopping: abort.signal,
    defer: (name, close) => {
      if (closed) void closeOne(name, close, closeMsMax);
      else closes.push({ name, close });
    },
    onDrain: (name, drain) => {
      if (stopped) void settleWithin(drain, closeMsMax);
      else drains.push({ name, drain });
    },
    worker: (name, work) => {
      const worker = superviseWorker({ name, work, signal: abort.signal, log, clock, policy: rules });
      workers.push({ name, worker });
      void worker.ended.then((end) => end === "gave up" && gaveUp.resolve(name));
    },
    every: (name, pause, turn) => runner.worker(name, repeat(pause, turn)),
    workers: () => workers.map(({ worker }) => worker.state()),
    trouble: () => {
      for (const { name, state, silentMs } of runner.workers()) {
        if (state === "gave up") return `the worker ${name} gave up`;
        if (state === "running" && silentMs !== null && silentMs > rules.silenceMsMax)
          return `the worker ${name} is stuck`;
      }
      return null;
    },
    gaveUp: gaveUp.promise,
    stop: (deadlineMs) => {
      stopped ??= stop(deadlineMs);
      return stopped;
    },
    scoped: (prefix) => ({
      leaving: leaving.signal,
      stopping: abort.signal,
      defer: (name, close) => runner.defer(`${prefix}/${name}`, close),
      onDrain: (name, drain) => runner.onDrain(`${prefix}/${name}`, drain),
      worker: (name, work) => runner.worker(`${prefix}/${name}`, work),
      every: (name, pause, turn) => runner.every(`${prefix}/${name}`, pause, turn),
    }),
  };
  return runner;
}
