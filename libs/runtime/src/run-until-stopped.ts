import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@signalbox/telemetry";
import type { ProcessHealth } from "./create-health.ts";
import type { ProcessRunner } from "./create-runner.ts";

export interface RunUntilStopped {
  readonly runner: ProcessRunner;
  readonly health: ProcessHealth;
  readonly log: Logger;
  /** From the signal to the end of the process. */
  readonly deadlineMs: number;
  /** How long the process is unready before it takes no more work. Part of the deadline. */
  readonly graceMs: number;
  /** Builds what the process runs. When it fails, what it opened is closed and the process ends with 1. */
  readonly start: () => Promise<void>;
  /** Tells a person why the start failed; what it answers `false` for is logged as well. */
  readonly tellFailure?: (error: unknown) => boolean;
}

const signals = ["SIGTERM", "SIGINT"] as const;

/**
 * Runs a process from its start to its exit code: 0 after a complete stop, 1 when the start failed, a worker gave up,
 * something was thrown that nobody caught, or parts were still open at the deadline. A second signal ends at once.
 */
export async function runUntilStopped(options: RunUntilStopped): Promise<void> {
  const { runner, health, log, deadlineMs } = options;
  const asked = Promise.withResolvers<Reason>();
  listenForReasons(runner, log, asked.resolve);

  health.live("workers", () => runner.trouble());
  const started = options.start().then(
    () => new Promise<never>(() => {}),
    (error: unknown): Reason => ({
      code: 1,
      message: "The start failed",
      fields: { error },
      isTold: options.tellFailure?.(error) ?? false,
    }),
  );
  const reason = await Promise.race([asked.promise, started]);

  const level = reason.code === 0 ? "info" : "error";
  if (!reason.isTold) log[level](reason.fields, reason.message);
  health.drain();
  runner.leave();
  const graceMs = reason.code === 0 ? Math.min(options.graceMs, deadlineMs) : 0;
  await sleep(graceMs);
  const open = await runner.stop(deadlineMs - graceMs);
  if (open.length > 0) log.error({ open }, "The deadline passed with parts still open");
  else log.info("Everything is closed");
  log.flush();
  process.exit(open.length > 0 ? 1 : reason.code);
}

interface Reason {
  readonly code: 0 | 1;
  readonly message: string;
  readonly fields: object;
  /** Whether somebody has been told already; then the log need not say it. */
  readonly isTold?: boolean;
}

function listenForReasons(runner: ProcessRunner, log: Logger, stop: (reason: Reason) => void): void {
  let isStopping = false;
  const begin = (reason: Reason) => {
    isStopping = true;
    stop(reason);
  };
  for (const signal of signals) {
    process.on(signal, () => {
      if (!isStopping) return begin({ code: 0, message: "Stopping", fields: { signal } });
      log.warn({ signal }, "A second signal: ending at once");
      log.flush();
      process.exit(signal === "SIGINT" ? 130 : 143);
    });
  }
  for (const kind of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(kind, (error: unknown) => {
      if (isStopping) log.error({ error, kind }, "Something was thrown during the stop that nobody caught");
      else begin({ code: 1, message: "Something was thrown that nobody caught", fields: { error, kind } });
    });
  }
  void runner.gaveUp.then((worker) => begin({ code: 1, message: "A worker gave up", fields: { worker } }));
}
