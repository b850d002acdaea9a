import type { Principal } from "@signalbox/auth";
import type { AppError, Clock } from "@signalbox/core";
import type { Pool } from "@signalbox/storage";
import { actorOf } from "./actor.ts";
import type { Audit } from "./audit.ts";

export interface RefusedRequest {
  readonly principal: Principal;
  readonly operation: string;
  readonly error: AppError;
  readonly requestId: string;
  /** Null behind the gateway, which does not pass it on. */
  readonly clientAddress: string | null;
}

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

  return function noteRefusal(request: RefusedRequest): void {
    const { principal, operation, error } = request;
    const reason = error.details[0]?.code ?? error.code;
    if (!isNew(JSON.stringify([principal.accountId, principal.credential.id, operation, reason]))) return;
    const fields = [...new Set(error.details.map(({ field }) => field))];
    const entry = { accountId: principal.accountId, operation, fields, reason, by: actorOf(request) };
    audit.recordRefusal(pool, entry).catch(onFailure);
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
