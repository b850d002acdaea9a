import { setTimeout as sleep } from "node:timers/promises";
import { minutes } from "@signalbox/core";
import type { IdempotencyStore } from "@signalbox/http";
import type { Runner } from "@signalbox/runtime";

interface Dependencies {
  readonly idempotency: Pick<IdempotencyStore, "clean">;
  readonly repeatAccess: () => Promise<unknown>;
  readonly purgeAccounts: () => Promise<unknown>;
  readonly trimAudit: () => Promise<unknown>;
}

/** The long-running parts that are this service's own. */
export function startWorkers(runner: Pick<Runner, "worker">, dependencies: Dependencies): void {
  runner.worker("idempotency", dependencies.idempotency.clean);
  runner.worker("access repetition", everyMinute(dependencies.repeatAccess));
  runner.worker("account purge", everyMinute(dependencies.purgeAccounts));
  runner.worker("audit retention", everyMinute(dependencies.trimAudit));
}

/** Looks every minute for what is due. */
function everyMinute(work: () => Promise<unknown>) {
  return async (signal: AbortSignal, beat: () => void): Promise<void> => {
    while (!signal.aborted) {
      beat();
      await work();
      await sleep(minutes(1), undefined, { signal, ref: false }).catch(() => {});
    }
  };
}
