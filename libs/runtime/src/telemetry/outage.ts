import { type Clock, minutes, seconds } from "@signalbox/core";

interface OutageLog {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

/** The outage of one dependency of a process, logged once for all affected parts; see `Logger.outage`. */
export interface Outage {
  /**
   * Records that `part` could not reach it: one line when the outage begins, then one every 30 s with the number of
   * failures.
   */
  failed(part: string, error: unknown): void;
  /** Records that `part` reached it: one line when no part is affected any more. Costs nothing without an outage. */
  passed(part: string): void;
}

const reminderMs = seconds(30);
/** Time after which a part that neither failed nor passed no longer counts as a user. */
const forgottenMs = minutes(2);

export function createOutage(what: string, log: OutageLog, clock: Clock): Outage {
  const failedAtMs = new Map<string, number>();
  let beganMs = 0;
  let loggedMs = 0;
  let failures = 0;

  const logOutage = (part: string, error: unknown, state: "away" | "still away") => {
    loggedMs = clock.steadyMs();
    const fields = { part, reason: reasonOf(error), parts: failedAtMs.size, failures, away_ms: loggedMs - beganMs };
    log.warn(fields, `${what} is ${state}`);
  };

  return {
    failed(part, error) {
      const nowMs = clock.steadyMs();
      const begins = failedAtMs.size === 0;
      failedAtMs.set(part, nowMs);
      failures = begins ? 1 : failures + 1;
      if (begins) {
        beganMs = nowMs;
        logOutage(part, error, "away");
      } else if (nowMs - loggedMs >= reminderMs) logOutage(part, error, "still away");
    },
    passed(part) {
      if (!failedAtMs.delete(part)) return;
      const nowMs = clock.steadyMs();
      for (const [other, atMs] of failedAtMs) if (nowMs - atMs > forgottenMs) failedAtMs.delete(other);
      if (failedAtMs.size === 0) log.info({ failures, away_ms: nowMs - beganMs }, `${what} is back`);
    },
  };
}

/** Formats the error and its causes in one line: the stack of a refused connection adds nothing. */
function reasonOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
  return cause instanceof Error && cause.message !== message ? `${message}: ${cause.message}` : message;
}
