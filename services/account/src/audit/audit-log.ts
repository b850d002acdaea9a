import { setImmediate as endOfTurn } from "node:timers/promises";
import type { Caller } from "@signalbox/auth";
import { namedUuidv7, uuidv7 } from "@signalbox/core";
import type { ReceivedEvent } from "@signalbox/events";
import {
  type Actor,
  type AuditChange,
  type AuditEntryData,
  type AuditedRead,
  actorOf,
  entryOfChange,
  entryOfRefusal,
  type Refusal,
} from "@signalbox/service";
import { advisoryLock, type Pool, type Queryable, sql, type Tx, table } from "@signalbox/storage";
import { accountChanged } from "../accounts/account-events.ts";
import type { ChangedAccount } from "../accounts/change-account.ts";
import type { AccountService } from "../context/account-service.ts";
import { columns } from "../generated/columns.ts";
import { timeOfId } from "./audit-entry.ts";

// The vocabulary of the audit, the same in every service.
export { type Actor, actorOf, type Refusal, systemActor } from "@signalbox/service";

/** The request behind a change, as far as the audit names it. */
export type RequestOrigin = Pick<Actor, "address" | "requestId">;

/** The use of a credential, before the account of its owner is known. */
export type CredentialUse = Omit<Actor, "kind" | "accountId">;

/** Changes of the account itself. */
export type AccountAction = Extract<AuditChange, { readonly subject?: never }>["action"];

/** The table; `audit-store.ts` reads it. */
export const entries = table("audit_entries", columns.audit_entries);

const hasPurgeBegun = sql(
  "audit.has-purge-begun",
  "select 1 from accounts where id = $1 and purge_begun_at is not null",
);

/** Records a change in the caller's transaction. A caller acts as the owner of an account. */
export const recordInAudit = (service: AccountService, tx: Tx, by: Caller | Actor, change: AuditChange) =>
  insertNow(service, tx, entryOfChange(by, change));

/** Records changes of many accounts with one statement. */
export async function recordAllInAudit(
  { clock, tracer }: AccountService,
  tx: Tx,
  by: Actor,
  changes: readonly AuditChange[],
): Promise<void> {
  const rows = changes.map((change) => rowOf(uuidv7(clock.nowMs()), entryOfChange(by, change), tracer.traceId()));
  if (rows.length > 0) await entries.insertNewRows(tx, rows);
}

/** Records a change of the account itself, with its events. */
export async function recordAccountChange(
  service: AccountService,
  tx: Tx,
  by: Caller | Actor,
  action: AccountAction,
  changed: ChangedAccount,
  reason: string | null = null,
): Promise<void> {
  const fields = [...new Set([...changed.accountFields, ...changed.settingsFields])];
  await recordInAudit(service, tx, by, { action, accountId: changed.account.id, fields, reason });
  await service.outbox.append(tx, accountChanged(changed));
}

export const recordRefusal = (service: AuditClock, db: Queryable, refusal: Refusal): Promise<void> =>
  insertNow(service, db, entryOfRefusal(refusal));

/**
 * Takes over an entry of another service, once. It keeps its id, and with it the original time, however late it
 * arrives. For an account whose purge has started, it keeps only the fields that the purge leaves.
 */
export async function takeAuditEntry(
  tx: Tx,
  { id, data, traceparent }: Pick<ReceivedEvent<"audit.recorded">, "id" | "data" | "traceparent">,
): Promise<void> {
  await lockAuditOf(tx, data.account_id);
  const isErased = (await tx.query(hasPurgeBegun, [data.account_id])).rowCount === 1;
  await entries.insertNew(tx, isErased ? rowOf(id, erased(data), null) : rowOf(id, data, traceparent?.slice(3, 35)));
}

type ReadOfAccount = "account.read" | `account.read_${"audit" | "api_keys" | "clients" | "passkeys" | "sign_ins"}`;

/**
 * Records what an administrator reads of another account, in its own audit, before the read is answered. The entry of a
 * read of the audit is written once its page is read, which does not show it.
 */
export async function recordReadOfAccount(
  { auditReads }: AccountService,
  caller: Caller,
  accountId: string,
  action: ReadOfAccount,
): Promise<void> {
  if (accountId === caller.accountId) return;
  await auditReads.record(actorOf(caller, "administrator"), { action, accountId });
}

/** Records the read of a list over all accounts, in the audit of the reader. */
export const recordReadOfAll = (
  { auditReads }: AccountService,
  caller: Caller,
  action: "account.list" | "account.list_audit",
): Promise<void> => auditReads.record(actorOf(caller), { action });

/** Writes the reads of one turn with one statement: a request may read a page of accounts. */
export function writeReadsTogether(pool: Pool): (read: AuditedRead) => Promise<void> {
  let batch: { readonly reads: AuditedRead[]; readonly written: Promise<void> } | null = null;

  return function write(read) {
    batch ??= { reads: [], written: endOfTurn().then(writeBatch) };
    batch.reads.push(read);
    return batch.written;
  };

  async function writeBatch(): Promise<void> {
    const together = batch?.reads ?? [];
    batch = null;
    await recordReads(pool, together);
  }
}

/** Records reads, each once a minute, whichever instance answers it: its id is made of its name. */
async function recordReads(db: Queryable, reads: readonly AuditedRead[]): Promise<void> {
  const rows = reads.map(({ by, read, minuteMs, name }) =>
    rowOf(namedUuidv7(minuteMs, name), entryOfChange(by, read), null),
  );
  // In one order everywhere, or two instances wait for each other's entries.
  await entries.insertNewRows(
    db,
    rows.sort((one, other) => (one.id < other.id ? -1 : 1)),
  );
}

/** The clock that dates an entry, and the tracer that names its trace. */
type AuditClock = Pick<AccountService, "clock" | "tracer">;

async function insertNow(service: AuditClock, db: Queryable, entry: AuditEntryData): Promise<void> {
  await entries.insert(db, rowOf(uuidv7(service.clock.nowMs()), entry, service.tracer.traceId()));
}

/** Holds back entries of other services while the audit of the account is erased. */
export const lockAuditOf = (tx: Tx, accountId: string): Promise<void> => advisoryLock(tx, `audit:${accountId}`);

/** Returns the entry as a purge leaves it; `account-purge.ts` does the same to stored entries. */
function erased(entry: AuditEntryData): AuditEntryData {
  if (entry.actor.kind !== "owner") return { ...entry, subject: null };
  const actor = { ...entry.actor, credential: "erased", address: null };
  return { ...entry, subject: null, reason: null, request_id: null, actor };
}

const rowOf = (id: string, { actor, ...entry }: AuditEntryData, traceId: string | null | undefined) => ({
  id,
  accountId: entry.account_id,
  action: entry.action,
  outcome: entry.outcome,
  fields: entry.fields,
  reason: entry.reason,
  subject: entry.subject,
  actorKind: actor.kind,
  actorAccountId: actor.account_id,
  actorCredential: actor.credential,
  actorAddress: actor.address,
  requestId: entry.request_id,
  createdAt: new Date(timeOfId(id)),
  traceId: traceId ?? null,
});
