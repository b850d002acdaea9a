import type { Clock } from "@signalbox/core";
import type { ForbiddenRequest } from "@signalbox/http";
import type { Pool } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import { type Audit, actorOf, type Refusal } from "./audit.ts";

interface AuditRefusalDependencies {
  readonly pool: Pool;
  readonly audit: Pick<Audit, "recordRefusal">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "error">;
}

/** Beyond so many different refusals in a minute, repeats are written as well: forgetting one would be worse. */
const rememberedMax = 10_000;

export type AuditRefusals = ReturnType<typeof createAuditRefusals>;

/**
 * Writes down what known callers were not allowed to do. The same refusal of the same credential is one entry a minute:
 * a client that keeps knocking must not fill the audit.
 */
export function createAuditRefusals({ pool, audit, clock, log }: AuditRefusalDependencies) {
  const recorded = new Set<string>();
  let minute = 0;

  return {
    /** Writes the refusal on its own, beside the transaction that was refused. Nobody waits for it. */
    record(refusal: Refusal): void {
      const { accountId, operation, reason, by } = refusal;
      if (!isNew(JSON.stringify([accountId, by.credential, operation, reason]))) return;
      audit
        .recordRefusal(pool, refusal)
        .catch((error) => log.error({ error }, "a refusal could not be written to the audit"));
    },
  };

  function isNew(refusal: string): boolean {
    const now = Math.floor(clock.nowMs() / 60_000);
    if (now !== minute) recorded.clear();
    minute = now;
    if (recorded.has(refusal)) return false;
    if (recorded.size < rememberedMax) recorded.add(refusal);
    return true;
  }
}

/** A request that was answered with 403, as the audit of the caller's account has it. */
export function refusalOf({ caller, operation, refusal }: ForbiddenRequest): Refusal {
  const details = refusal.details ?? [];
  return {
    accountId: caller.accountId,
    operation,
    reason: details[0]?.code ?? refusal.code,
    fields: [...new Set(details.map(({ field }) => field))],
    by: actorOf(caller),
  };
}
