import type { Caller } from "@signalbox/auth";
import {
  type AuditAction,
  draft,
  type EventData,
  type EventDraft,
  type ThingAction,
  type TransitionActor,
} from "@signalbox/contracts";

/** An entry of the audit, as it travels and as account keeps it. Its id and its time are those of the event. */
export type AuditEntryData = EventData<"audit.recorded">;

/** Somebody who caused a change: in which part, with which account and credential, and from where. */
export interface Actor {
  readonly kind: TransitionActor;
  /** Null for the product itself. */
  readonly accountId: string | null;
  readonly credential: string;
  readonly address: string | null;
  readonly requestId: string | null;
}

/** The caller of a request as an actor: the owner of an account, unless the route is one of administrators. */
export function actorOf(caller: Caller, kind: Actor["kind"] = "owner"): Actor {
  const { accountId, credential, clientAddress: address, requestId } = caller;
  return { kind, accountId, credential: credential.id, address, requestId };
}

/** The product itself, where nobody asked; `part` is the part of it that acts. */
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
  /** The id of what was touched, never a secret or an address. */
  readonly subject: string;
}

interface Change {
  /** The account that changed, where it is not the actor's own. */
  readonly accountId?: string;
  /** Names of what changed, never values. */
  readonly fields?: readonly string[];
  /** Why, where somebody said so. */
  readonly reason?: string | null;
}

/** Something that was not allowed. */
export interface Refusal {
  /** The account whose audit it belongs to. */
  readonly accountId: string;
  /** `DELETE /api/account/`, `Mutation.setAccountStatus`, or an action such as `api_key.use`. */
  readonly operation: string;
  /** The names of what was wrong: `scope`, `status`, `authorization`. */
  readonly fields: readonly string[];
  /** The stable code of the refusal. */
  readonly reason: string;
  /** The id of what it was tried on or with, where we know it for one of the account's own. */
  readonly subject?: string;
  readonly by: Actor;
}

/** The entry of a change. A caller acts as the owner of an account. */
export function entryOfChange(by: Caller | Actor, change: AuditChange): AuditEntryData {
  const actor = "kind" in by ? by : actorOf(by);
  const { action, fields = [], reason = null, subject = null } = change;
  const accountId = change.accountId ?? actor.accountId;
  if (accountId === null) throw new Error(`${action} is in nobody's audit`);
  return entry(actor, { account_id: accountId, action, outcome: "done", fields: [...fields], reason, subject });
}

/** The entry of a refusal. */
export function entryOfRefusal(refusal: Refusal): AuditEntryData {
  const { accountId, operation: action, fields, reason, subject = null, by } = refusal;
  return entry(by, { account_id: accountId, action, outcome: "refused", fields: [...fields], reason, subject });
}

function entry(by: Actor, what: Omit<AuditEntryData, "actor" | "request_id">): AuditEntryData {
  const { kind, accountId, credential, address, requestId } = by;
  return { ...what, actor: { kind, account_id: accountId, credential, address }, request_id: requestId };
}

/** The change as an event for the audit, to append to the outbox together with the fact itself. */
export const audited = (by: Caller | Actor, change: AuditChange): EventDraft<"audit.recorded"> =>
  recorded(entryOfChange(by, change));

/** An entry as an event. Its key is the account, so the entries of an account arrive in their order. */
export const recorded = (data: AuditEntryData): EventDraft<"audit.recorded"> =>
  draft("audit.recorded", { subject: data.account_id, accountId: data.account_id, data });
