import type { Clock } from "@signalbox/core";
import type { ForbiddenRequest } from "@signalbox/http";
import type { Logger, Metrics } from "@signalbox/runtime";
import { actorOf, entryOfRefusal, type Refusal, recorded, type sendingThrough } from "./audit-entry.ts";

interface AuditRefusalDependencies {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Writes the entry separately, outside the refused transaction. */
  readonly write: (refusal: Refusal) => Promise<void>;
}

/**
 * Different refusals of one credential in a minute: more than a faulty client has, far fewer than a hostile one could
 * cause.
 */
const perCredentialMax = 20;
/** Number of credentials with written refusals in a minute, so that many credentials do not fill the audit either. */
const credentialsMax = 10_000;

export type AuditRefusals = ReturnType<typeof createAuditRefusals>;

/**
 * Records refused operations of known callers. The same refusal of the same credential is one entry a minute, and
 * different ones of a credential are limited; a last entry says that the rest is not listed. Unlisted ones are counted.
 */
export function createAuditRefusals({ write, clock, metrics, log }: AuditRefusalDependencies) {
  const written = new Map<string, Set<string>>();
  const leftOut = metrics.counter("signalbox_audit_refusals_left_out_total");
  let minute = 0;

  return {
    /** Records the refusal in the background, unless this minute already has it. */
    record(refusal: Refusal): void {
      const { accountId, operation, reason } = refusal;
      // One application signs many people in: guesses at one must not hide those at others.
      const listed = listedOf(`${accountId} ${refusal.by.credential}`);
      const name = JSON.stringify([operation, reason]);
      if (listed?.has(name)) return;
      if (listed === null || listed.size >= perCredentialMax) leftOut.inc();
      if (listed === null || listed.size > perCredentialMax) return;
      listed.add(name);
      write(listed.size > perCredentialMax ? limitReached(refusal) : refusal).catch((error) =>
        log.error({ error }, "writing a refusal to the audit failed"),
      );
    },
  };

  /** Returns the refusals written for a credential in this minute; null when there are too many credentials. */
  function listedOf(credential: string): Set<string> | null {
    const now = Math.floor(clock.nowMs() / 60_000);
    if (now !== minute) written.clear();
    minute = now;
    const known = written.get(credential);
    if (known || written.size >= credentialsMax) return known ?? null;
    const listed = new Set<string>();
    written.set(credential, listed);
    return listed;
  }
}

const limitReached = ({ accountId, by }: Refusal): Refusal => ({
  accountId,
  operation: "audit.limit",
  reason: "too_many_refusals",
  fields: [],
  by,
});

/** Builds the refusal of a request that was answered with 403, for the audit of the caller's account. */
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

/** Creates the function that sends refusals to the audit, through the outbox or to the log. */
export function createRefusalRecorder(
  context: Omit<AuditRefusalDependencies, "write">,
  send: ReturnType<typeof sendingThrough>,
): (request: ForbiddenRequest) => void {
  const refusals = createAuditRefusals({ ...context, write: (refusal) => send(recorded(entryOfRefusal(refusal))) });
  return (request) => refusals.record(refusalOf(request));
}
