import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessRunner } from "./create-runner.ts";
import type { ProcessHealth } from "./health.ts";
import { logLibraryOutput } from "./log-library-output.ts";
import { endRequestOfRejection } from "./request-scope.ts";
import type { Logger } from "./telemetry/logger.ts";

export interface RunUntilStopped {
  readonly runner: ProcessRunner;
  readonly health: ProcessHealth;
  readonly log: Logger;
  /** Time limit from the signal to the end of the process. */
  readonly deadlineMs: number;
  /** Time for which the process is unready but still accepts work. Part of the deadline. */
  readonly graceMs: number;
  /** Builds the parts of the process. After a failure opened parts are closed and the process ends with 1. */
  readonly start: () => Promise<void>;
  /** Prints the reason of a failed start; a failure for which it returns `false` is logged as well. */
  readonly tellFailure?: (error: unknown) => boolean;
  /** Tells a person at the terminal that the process stops, and that it has stopped. */
  readonly tell?: (line: string) => void;
}

const signals = ["SIGTERM", "SIGINT"] as const;

/**
 * Runs a process from its start to its exit code: 0 after a complete stop, 1 when the start failed, a worker gave up,
 * an exception was uncaught, or parts were still open at the deadline. A second signal ends it immediately. A rejection
 * that nobody handles ends the request it belongs to, and the process only when it belongs to none.
 */
export async function runUntilStopped(options: RunUntilStopped): Promise<void> {
  const { runner, health, log, deadlineMs } = options;
  const asked = Promise.withResolvers<Reason>();
  logLibraryOutput(log);
  listenForReasons(options, asked.resolve);

  health.live("workers", () => runner.trouble());
  const started = options.start().then(
    () => new Promise<never>(() => {}),
    (error: unknown): Reason => ({
      code: 1,
      message: "The start failed",
      fields: { error },
      isReported: options.tellFailure?.(error) ?? false,
    }),
  );
  const reason = await Promise.race([asked.promise, started]);

  const level = reason.code === 0 ? "info" : "error";
  if (!reason.isReported) log[level](reason.fields, reason.message);
  if (reason.code === 0) options.tell?.(stoppingLine(runner.requestsInHand()));
  health.drain();
  runner.leave();
  const graceMs = reason.code === 0 ? Math.min(options.graceMs, deadlineMs) : 0;
  await sleep(graceMs);
  const open = await runner.stop(deadlineMs - graceMs);
  if (open.length > 0) log.error({ open }, "The shutdown deadline passed with parts still open");
  else log.info("Everything is closed");
  log.flush();
  if (open.length > 0) options.tell?.(`Stopped with these parts unfinished: ${open.join(", ")}.`);
  else if (reason.code === 0) options.tell?.("Stopped.");
  process.exit(open.length > 0 ? 1 : reason.code);
}

function stoppingLine(requests: number): string {
  const work =
    requests === 0 ? "running work" : `${requests} ${requests === 1 ? "request" : "requests"} and other running work`;
  return `Stopping: finishing ${work}. Another Ctrl-C stops at once.`;
}

interface Reason {
  readonly code: 0 | 1;
  readonly message: string;
  readonly fields: object;
  /** True when the failure was already printed and need not be logged. */
  readonly isReported?: boolean;
}

function listenForReasons({ runner, log, tell }: RunUntilStopped, stop: (reason: Reason) => void): void {
  let isStopping = false;
  const begin = (reason: Reason) => {
    isStopping = true;
    stop(reason);
  };
  for (const signal of signals) {
    process.on(signal, () => {
      if (!isStopping) return begin({ code: 0, message: "Stopping", fields: { signal } });
      log.warn({ signal }, "A second signal: ending immediately");
      log.flush();
      tell?.(
        "Stopped at once. Running work was cut off: deliveries, events and jobs may be repeated after the next start.",
      );
      runner.endAtOnce();
      process.exit(signal === "SIGINT" ? 130 : 143);
    });
  }
  const onUncaught = (kind: string, error: unknown) => {
    if (isStopping) log.error({ error, kind }, "Uncaught exception during the stop");
    else begin({ code: 1, message: "Uncaught exception", fields: { error, kind } });
  };
  process.on("uncaughtException", (error) => onUncaught("uncaughtException", error));
  process.on("unhandledRejection", (error) => {
    if (!endRequestOfRejection(error, log)) onUncaught("unhandledRejection", error);
  });
  void runner.gaveUp.then((worker) => begin({ code: 1, message: "A worker gave up", fields: { worker } }));
}
