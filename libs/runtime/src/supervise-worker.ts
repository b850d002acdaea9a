import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, isUnavailable, minutes, seconds } from "@signalbox/core";
import type { Work } from "./runner.ts";
import type { Logger } from "./telemetry/logger.ts";

export interface SupervisionPolicy {
  readonly firstDelayMs: number;
  readonly delayMsMax: number;
  /** A run this long counts as a recovery: the next failure starts again with the first delay. */
  readonly healthyAfterMs: number;
  /**
   * Number of failures within the window after which a restart no longer helps. Outages of dependencies do not count.
   */
  readonly failuresMax: number;
  readonly windowMs: number;
  /** Time after which a worker that has reported progress counts as stuck. */
  readonly silenceMsMax: number;
}

export const supervisionPolicy: SupervisionPolicy = {
  firstDelayMs: 100,
  delayMsMax: seconds(5),
  healthyAfterMs: seconds(30),
  failuresMax: 10,
  windowMs: minutes(2),
  silenceMsMax: minutes(1),
};

/** Workers fail without a fault of their own only during an outage; it is logged once for all of them. */
const outageName = "A dependency of workers";

export interface WorkerState {
  readonly name: string;
  readonly state: "running" | "waiting" | "stopped" | "gave up";
  readonly restarts: number;
  /**
   * Milliseconds since the last reported progress; `null` for a worker that never reports any and is not judged by it.
   */
  readonly silentMs: number | null;
}

export interface SupervisedWorker {
  /** Resolves when the worker has ended for good: stopped, or given up. Never rejects. */
  readonly ended: Promise<"stopped" | "gave up">;
  state(): WorkerState;
}

interface Supervision {
  readonly name: string;
  readonly work: Work;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly clock: Clock;
  readonly policy: SupervisionPolicy;
}

/** Keeps a worker running: restarts it after a failure, later each time, and gives up when that does not help. */
export function superviseWorker({ name, work, signal, log, clock, policy }: Supervision): SupervisedWorker {
  let state: WorkerState["state"] = "running";
  let restarts = 0;
  let lastBeatMs: number | null = null;
  const beat = () => {
    lastBeatMs = clock.steadyMs();
  };

  const run = async (): Promise<"stopped" | "gave up"> => {
    const failures: number[] = [];
    let delayMs = policy.firstDelayMs;
    while (true) {
      const startedMs = clock.steadyMs();
      state = "running";
      const recovery = setTimeout(() => log.outage(outageName).passed(name), policy.healthyAfterMs).unref();
      const error = await failureOf(work, signal, beat);
      clearTimeout(recovery);
      if (signal.aborted) {
        if (error !== null) log.warn({ worker: name, error }, "A worker failed while it stopped");
        return "stopped";
      }
      const nowMs = clock.steadyMs();
      if (nowMs - startedMs >= policy.healthyAfterMs) delayMs = policy.firstDelayMs;
      const outage = isUnavailable(error);
      if (!outage) failures.push(nowMs);
      while (failures.length > 0 && nowMs - (failures[0] as number) > policy.windowMs) failures.shift();
      if (failures.length >= policy.failuresMax) {
        log.error(
          { worker: name, error, failures: failures.length },
          "A worker failed too often; the process must end",
        );
        return "gave up";
      }
      const waitMs = Math.round(delayMs * (0.5 + Math.random() / 2));
      if (outage) log.outage(outageName).failed(name, error);
      else log.warn({ worker: name, error, restart_in_ms: waitMs }, "A worker failed and will be restarted");
      state = "waiting";
      await sleep(waitMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return "stopped";
      restarts += 1;
      delayMs = Math.min(delayMs * 2, policy.delayMsMax);
      if (lastBeatMs !== null) beat();
    }
  };

  const ended = run().then((end) => {
    state = end;
    return end;
  });
  return {
    ended,
    state: () => ({ name, state, restarts, silentMs: lastBeatMs === null ? null : clock.steadyMs() - lastBeatMs }),
  };
}

/** Runs the work and returns why it ended; `null` when it was stopped. */
async function failureOf(work: Work, signal: AbortSignal, beat: () => void): Promise<unknown> {
  try {
    await work(signal, beat);
    return signal.aborted ? null : new Error("The worker ended early");
  } catch (error) {
    return signal.aborted && isAbort(error) ? null : error;
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === "AbortError" || (error as { code?: unknown }).code === "ABORT_ERR");
}
