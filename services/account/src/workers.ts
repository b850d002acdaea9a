import { setTimeout as sleep } from "node:timers/promises";
import { minutes, seconds } from "@signalbox/core";
import type { IdempotencyStore } from "@signalbox/http";
import type { Runner, Work } from "@signalbox/runtime";
import type { BuiltInIssuer } from "./oauth/built-in-issuer.ts";
import type { Issuing } from "./oauth/issuing.ts";

interface Dependencies {
  readonly idempotency: Pick<IdempotencyStore, "clean">;
  readonly repeatAccess: () => Promise<unknown>;
  readonly announceExpiredCredentials: () => Promise<unknown>;
  readonly purgeAccounts: () => Promise<unknown>;
  readonly sendDueMails: Work;
  readonly trimCodes: () => Promise<unknown>;
  readonly trimContactLinks: () => Promise<unknown>;
  readonly trimStepUps: () => Promise<unknown>;
  readonly keepAuditDays: () => Promise<unknown>;
  /** Both null when another issuer is configured. */
  readonly issuing: Issuing | null;
  readonly oauth: BuiltInIssuer | null;
}

/** The long-running parts that are this service's own. */
export function startWorkers(runner: Pick<Runner, "worker">, dependencies: Dependencies): void {
  runner.worker("idempotency", dependencies.idempotency.clean);
  runner.worker("access repetition", every(minutes(1), dependencies.repeatAccess));
  // An index tells in a moment that nothing is due, and an end is announced in its second.
  runner.worker("credential expiry", every(seconds(1), dependencies.announceExpiredCredentials));
  runner.worker("account purge", every(minutes(1), dependencies.purgeAccounts));
  runner.worker("mail", dependencies.sendDueMails);
  runner.worker("code retention", every(minutes(1), dependencies.trimCodes));
  runner.worker("contact link retention", every(minutes(1), dependencies.trimContactLinks));
  runner.worker("step-up retention", every(minutes(1), dependencies.trimStepUps));
  runner.worker("audit days", every(minutes(1), dependencies.keepAuditDays));
  startIssuerWorkers(runner, dependencies);
}

function startIssuerWorkers(runner: Pick<Runner, "worker">, { issuing, oauth }: Dependencies): void {
  if (!issuing || !oauth) return;
  // A new key is published within moments everywhere, long before it signs.
  runner.worker("signing keys", every(seconds(5), issuing.keepSigningKeys));
  runner.worker("issuer cleaning", every(minutes(1), oauth.trim));
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
