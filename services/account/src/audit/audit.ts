import type { TransitionActor } from "@signalbox/contracts";
import { type Clock, uuidv7 } from "@signalbox/core";
import { sqlRows, type Tx } from "@signalbox/storage";

/** Who caused a change: in which part, the account and credential they act with, and where the request came from. */
export interface Actor {
  readonly kind: TransitionActor;
  /** Null for the product itself. */
  readonly accountId: string | null;
  readonly credential: string;
  readonly address: string | null;
  readonly requestId: string | null;
}

/** What is done to the account itself. */
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
  | "account.step_up"
  | "account.sign_out"
  | "account.purge"
  | "account.export"
  | "sign_in";

/** What is done to one of the things that an account has many of: its entry says to which. */
export type ThingAction =
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
  /** Whose record changed. */
  readonly accountId: string;
  /** Names of what changed, never values. */
  readonly fields: readonly string[];
  /** Why, where somebody said so. */
  readonly reason?: string | null;
  readonly by: Actor;
}

/** Something that was not allowed. */
export interface Refusal {
  /** Whose audit it belongs to. */
  readonly accountId: string;
  /** `DELETE /api/account/`, `Mutation.setAccountStatus` or `api_key.use`. */
  readonly operation: string;
  /** What was wrong: `scope`, `status`, `authorization`. */
  readonly fields: readonly string[];
  /** The stable code of the refusal. */
  readonly reason: string;
  /** What it was tried on or with, where we know it for one of the account's own. */
  readonly subject?: string;
  readonly by: Actor;
}

/** Writes down who changed what, in the transaction of the change, and who was refused what. */
export interface Audit {
  record(tx: Tx, entry: AuditRecord): Promise<void>;
  recordRefusal(db: Pick<Tx, "query">, entry: Refusal): Promise<void>;
}

const insertEntry = sqlRows(
  "audit.insert",
  "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
  (tuples) =>
    `insert into audit_entries (id, account_id, action, outcome, fields, reason, subject, actor_kind, actor_account_id,
       actor_credential, actor_address, request_id, created_at)
     values ${tuples}`,
);

export function createAudit({ clock }: { readonly clock: Clock }): Audit {
  return {
    async record(tx, { action, accountId, fields, reason = null, subject = null, by }) {
      await tx.query(insertEntry, valuesOf(accountId, [action, "done", fields, reason, subject], by));
    },
    async recordRefusal(db, { operation, accountId, fields, reason, subject = null, by }) {
      await db.query(insertEntry, valuesOf(accountId, [operation, "refused", fields, reason, subject], by));
    },
  };

  function valuesOf(accountId: string, what: readonly unknown[], by: Actor): unknown[] {
    const now = clock.now();
    const actor = [by.kind, by.accountId, by.credential, by.address, by.requestId];
    return [uuidv7(now.getTime()), accountId, ...what, ...actor, now];
  }
}
