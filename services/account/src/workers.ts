import { setTimeout as sleep } from "node:timers/promises";
import { stepUpMaxAgeMs } from "@signalbox/auth";
import { type Clock, hours, minutes, seconds } from "@signalbox/core";
import type { IdempotencyStore } from "@signalbox/http";
import type { Runner } from "@signalbox/runtime";
import { type Pool, type RetentionRule, startRetention } from "@signalbox/storage";
import type { BuiltInIssuer } from "./oauth/issuer.ts";

interface Dependencies {
  readonly idempotency: Pick<IdempotencyStore, "clean">;
  readonly repeatAccess: () => Promise<unknown>;
  readonly announceExpiredCredentials: () => Promise<unknown>;
  readonly purgeAccounts: () => Promise<unknown>;
  readonly mails: { readonly startWorker: (runner: Pick<Runner, "every">) => void };
  readonly pool: Pool;
  readonly clock: Clock;
  readonly keepAuditDays: () => Promise<unknown>;
  /** Null when another issuer is configured. */
  readonly issuer: BuiltInIssuer | null;
}

/** How long rows stay that are of no use any more. */
export const retention: readonly RetentionRule[] = [
  // Long enough to count the codes of the last hour, and to tell a late person that theirs has expired.
  { name: "code retention", table: "one_time_codes", column: "expires_at", keepMs: hours(24) },
  // Long enough to tell a late person that their link has expired, rather than that it never was.
  { name: "contact link retention", table: "contact_links", column: "expires_at", keepMs: hours(24 * 30) },
  { name: "step-up retention", table: "step_ups", column: "at", keepMs: stepUpMaxAgeMs },
];

/** The long-running parts that are this service's own. */
export function startWorkers(runner: Pick<Runner, "worker" | "every">, dependencies: Dependencies): void {
  runner.worker("idempotency", dependencies.idempotency.clean);
  runner.worker("access repetition", every(minutes(1), dependencies.repeatAccess));
  // An index tells in a moment that nothing is due, and an end is announced in its second.
  runner.worker("credential expiry", every(seconds(1), dependencies.announceExpiredCredentials));
  runner.worker("account purge", every(minutes(1), dependencies.purgeAccounts));
  dependencies.mails.startWorker(runner);
  startRetention({ ...dependencies, runner }, retention);
  runner.worker("audit days", every(minutes(1), dependencies.keepAuditDays));
  dependencies.issuer?.startWorkers(runner);
}

/** Looks for what is due, and again after `pauseMs`. */
function every(pauseMs: number, work: () => Promise<unknown>) {
  return async (signal: AbortSignal, beat: () => void): Promise<void> => {
    while (!signal.aborted) {
      beat();
      await work();
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    }
  };
}
