import type { Caller } from "@signalbox/auth";
import type { TransitionActor } from "@signalbox/contracts";
import { type Clock, uuidv7 } from "@signalbox/core";
import { type Queryable, type Tx, table } from "@signalbox/storage";
import type { AuditEntry } from "./audit-entry.ts";

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

/** Changes of the account itself. */
export type AccountAction =
  | "account.create"
  | "account.update"
  | "account.activate"
  | "account.suspend"
  | "account.disable"
  | "account.delete"
  | "account.grant_role"
  | "account.request_recovery"
  | "account.contact_confirm"
  | "account.contact_cancel"
  | "account.contact_object"
  | "account.contact_release"
  | "account.step_up"
  | "account.sign_out"
  | "account.purge"
  | "account.export"
  | "sign_in";

/** Changes of one of the things that an account has many of: the entry says of which. */
type ThingAction =
  | "identity.link"
  | "identity.unlink"
  | "api_key.create"
  | "api_key.update"
  | "api_key.rotate"
  | "api_key.revoke"
  | "api_key.expire"
  | "client.create"
  | "client.update"
  | "client.rotate_secret"
  | "client.revoke"
  | "client.expire"
  | "token.revoke";

type AuditRecord = Change & (OfAccount | OfThing);

interface OfAccount {
  readonly action: AccountAction;
  readonly subject?: never;
}

interface OfThing {
  readonly action: ThingAction;
  /** `key_…`, `cli_…`, `idn_…` or `jti:…`: the id of what was touched, never a secret or an address. */
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
  /** `DELETE /api/account/`, `Mutation.setAccountStatus` or `api_key.use`. */
  readonly operation: string;
  /** The names of what was wrong: `scope`, `status`, `authorization`. */
  readonly fields: readonly string[];
  /** The stable code of the refusal. */
  readonly reason: string;
  /** The id of what it was tried on or with, where we know it for one of the account's own. */
  readonly subject?: string;
  readonly by: Actor;
}

const entries = table("audit_entries", {
  id: "uuid",
  accountId: "text",
  action: "text",
  outcome: "text",
  fields: "text[]",
  reason: "text",
  subject: "text",
  actorKind: "text",
  actorAccountId: "text",
  actorCredential: "text",
  actorAddress: "text",
  requestId: "text",
  createdAt: "timestamptz",
});

export type Audit = ReturnType<typeof createAudit>;

/** The audit: who changed what, and who was refused what. */
export function createAudit({ clock }: { readonly clock: Clock }) {
  return {
    /** Writes down a change, in its transaction. A caller acts as the owner of an account. */
    async record(tx: Tx, by: Caller | Actor, change: AuditRecord): Promise<void> {
      const actor = "kind" in by ? by : actorOf(by);
      const { action, fields = [], reason = null, subject = null } = change;
      const accountId = change.accountId ?? actor.accountId;
      await insert(tx, actor, { accountId, action, outcome: "done", fields, reason, subject });
    },

    async recordRefusal(db: Queryable, { operation, accountId, fields, reason, subject, by }: Refusal): Promise<void> {
      await insert(db, by, {
        accountId,
        action: operation,
        outcome: "refused",
        fields,
        reason,
        subject: subject ?? null,
      });
    },
  };

  async function insert(db: Queryable, by: Actor, what: Entered): Promise<void> {
    const now = clock.now();
    await entries.insert(db, {
      ...what,
      id: uuidv7(now.getTime()),
      actorKind: by.kind,
      actorAccountId: by.accountId,
      actorCredential: by.credential,
      actorAddress: by.address,
      requestId: by.requestId,
      createdAt: now,
    });
  }
}

type Entered = Pick<AuditEntry, "action" | "outcome" | "fields" | "reason" | "subject"> & { accountId: string | null };
