import { type Caller, personOf } from "@signalbox/auth";
import {
  type AuditAction,
  draft,
  type EventData,
  type EventDraft,
  type ThingAction,
  type TransitionActor,
} from "@signalbox/contracts";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool } from "@signalbox/storage";

/** An entry of the audit, as sent and stored. Its id and its time are those of the event. */
export type AuditEntryData = EventData<"audit.recorded">;

/** The actor of a change: service part, account, credential and address. */
export interface Actor {
  readonly kind: TransitionActor;
  /** Null for the product itself. */
  readonly accountId: string | null;
  readonly credential: string;
  readonly address: string | null;
  readonly requestId: string | null;
}

/**
 * Returns the caller of a request as an actor: the owner of an account, unless the route is for administrators. A member
 * acts as the owner, under the id of their own account.
 */
export function actorOf(caller: Caller, kind: Actor["kind"] = "owner"): Actor {
  const { credential, clientAddress: address, requestId } = caller;
  return { kind, accountId: personOf(caller), credential: credential.id, address, requestId };
}

/** Returns the product itself as an actor; `part` is its acting part. */
export function systemActor(part: string): Actor {
  return { kind: "system", accountId: null, credential: part, address: null, requestId: null };
}

/** A change to write into the audit. */
export type AuditChange = Change & (OfAccount | OfThing);

interface OfAccount {
  readonly action: Exclude<AuditAction, ThingAction>;
  readonly subject?: never;
}

interface OfThing {
  readonly action: ThingAction;
  /** The id of the changed thing, never a secret or an address. */
  readonly subject: string;
}

interface Change {
  /** The changed account, where it is not the actor's own. */
  readonly accountId?: string;
  /** Names of changed fields, never values. */
  readonly fields?: readonly string[];
  /** The stated reason. */
  readonly reason?: string | null;
}

/** A refused operation. */
export interface Refusal {
  /** The account whose audit has the entry. */
  readonly accountId: string;
  /** `DELETE /api/account/`, `Mutation.setAccountStatus`, or an action such as `api_key.use`. */
  readonly operation: string;
  /** The names of the faulty fields: `scope`, `status`, `authorization`. */
  readonly fields: readonly string[];
  /** The stable code of the refusal. */
  readonly reason: string;
  /** The id of the affected thing or the used credential, if known and owned by the account. */
  readonly subject?: string;
  readonly by: Actor;
}

/** Builds the entry of a change. A caller acts as the owner of an account. */
export function entryOfChange(by: Caller | Actor, change: AuditChange): AuditEntryData {
  const actor = "kind" in by ? by : actorOf(by);
  const { action, fields = [], reason = null, subject = null } = change;
  const accountId = change.accountId ?? by.accountId;
  if (accountId === null) throw new Error(`${action} belongs to no audit`);
  return entry(actor, { account_id: accountId, action, outcome: "done", fields: [...fields], reason, subject });
}

/** Builds the entry of a refusal. */
export function entryOfRefusal(refusal: Refusal): AuditEntryData {
  const { accountId, operation: action, fields, reason, subject = null, by } = refusal;
  return entry(by, { account_id: accountId, action, outcome: "refused", fields: [...fields], reason, subject });
}

function entry(by: Actor, what: Omit<AuditEntryData, "actor" | "request_id">): AuditEntryData {
  const { kind, accountId, credential, address, requestId } = by;
  return { ...what, actor: { kind, account_id: accountId, credential, address }, request_id: requestId };
}

/** Builds the audit event of a change, to append to the outbox together with the fact itself. */
export const audited = (by: Caller | Actor, change: AuditChange): EventDraft<"audit.recorded"> =>
  recorded(entryOfChange(by, change));

/** Builds the event of an entry. Its key is the account, so the entries of an account arrive in their order. */
export const recorded = (data: AuditEntryData): EventDraft<"audit.recorded"> =>
  draft("audit.recorded", { subject: data.account_id, accountId: data.account_id, data });

interface OutboxOfService {
  readonly pool: Pool;
  readonly outbox: Outbox;
}

/** Creates the function that sends an entry through the outbox in a transaction of its own, for one without a change. */
export const sendingThrough =
  ({ pool, outbox }: OutboxOfService) =>
  (entry: EventDraft<"audit.recorded">): Promise<void> =>
    inTransaction(pool, async (tx) => void (await outbox.append(tx, [entry])));
