import type { Clock } from "@signalbox/core";
import type { ForbiddenRequest } from "@signalbox/http";
import type { Pool } from "@signalbox/storage";
import { actorOf } from "./actor.ts";
import type { Audit, Refusal } from "./audit.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly audit: Pick<Audit, "recordRefusal">;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
}

/** Beyond so many different refusals in a minute, repeats are written as well: forgetting one would be worse. */
const rememberedMax = 10_000;

/**
 * Writes down what a known caller was not allowed to do. The same refusal of the same credential is one entry a minute:
 * a client that keeps knocking must not fill the audit. Nobody waits for it.
 */
export function createNoteRefusal({ pool, audit, clock, onFailure }: Dependencies) {
  const noted = new Set<string>();
  let minute = 0;

  return function noteRefusal(refusal: Refusal): void {
    const { accountId, operation, reason, by } = refusal;
    if (isNew(JSON.stringify([accountId, by.credential, operation, reason]))) {
      audit.recordRefusal(pool, refusal).catch(onFailure);
    }
  };

  function isNew(refusal: string): boolean {
    const now = Math.floor(clock.nowMs() / 60_000);
    if (now !== minute) noted.clear();
    minute = now;
    if (noted.has(refusal)) return false;
    if (noted.size < rememberedMax) noted.add(refusal);
    return true;
  }
}

export type NoteRefusal = ReturnType<typeof createNoteRefusal>;

/** A request that was answered with 403, as the audit of the caller's account has it. */
export function refusalOf({ caller, operation, refusal }: ForbiddenRequest): Refusal {
  const details = refusal.details ?? [];
  return {
    accountId: caller.accountId,
    operation,
    reason: details[0]?.code ?? refusal.code,
    fields: [...new Set(details.map(({ field }) => field))],
    by: actorOf({ ...caller, principal: caller }),
  };
}
