import type { Caller } from "@signalbox/auth";
import {
  dayMs,
  inTransaction,
  type Queryable,
  type Stretch,
  sql,
  startOfDay,
  stretchesBack,
  type Tx,
} from "@signalbox/storage";
import { announceAccount } from "../access/access-announcements.ts";
import type { Account } from "../accounts/account.ts";
import { accountDeleted } from "../accounts/account-events.ts";
import { firstIdAt } from "../audit/audit-entry.ts";
import { actorOf, lockAuditOf, recordInAudit, systemActor } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { endMembershipsOf } from "../members/members.ts";

/** Refusals may be written until the last moment, also by an instance whose clock differs slightly. */
const recentDays = 2;

/** A purge that has started goes on, even if a longer retention was set since. */
const isDue = "status = 'deleted' and purged_at is null and (status_changed_at <= $1 or purge_begun_at is not null)";

const findDue = sql(
  "purge.find-due",
  `select id, created_at as "createdAt" from accounts where ${isDue} order by status_changed_at limit 1`,
);

const beginPurge = sql(
  "purge.begin",
  `update accounts set purge_begun_at = coalesce(purge_begun_at, $3) where id = $2 and ${isDue}`,
);

/** Every table with an account id, except for the audit. Foreign keys refer to the account only. */
const tables = [
  "identities",
  "outgoing_mails",
  "notice_counts",
  "one_time_codes",
  "contact_links",
  "step_ups",
  "passkeys",
  "passkey_offers",
  "step_up_allowances",
  "api_keys",
  "service_clients",
  "portal_sessions",
  "oauth_issued_tokens",
  "oauth_state",
  "sign_in_grants",
  "sign_ins",
  "sign_in_refusals",
  "recovery_codes",
  "invitations",
  "memberships",
  "first_links",
];
const erasures = [
  ...tables.map((table) => sql(`purge.${table}`, `delete from ${table} where account_id = $1`)),
  // They hold the address that the account was invited by.
  sql("purge.accepted-invitations", "delete from invitations where accepted_by = $1"),
];

/**
 * Entries of administrators stay as they are. Unnamed statements are planned with their values, and lock only the days
 * of the range.
 */
const eraseActors = sql(
  "",
  `update audit_entries set actor_address = null, actor_credential = 'erased', reason = null, request_id = null,
     trace_id = null
   where account_id = $1 and id >= $2 and id < $3 and actor_kind = 'owner'`,
);

/** The id can be computed from the login, and the issuer of a token knows its owner. */
const eraseSubjects = sql(
  "",
  "update audit_entries set subject = null where account_id = $1 and id >= $2 and id < $3 and subject is not null",
);

// Purges deleted accounts after the time for undoing. A tombstone stays, and `account.deleted` makes the other
// services erase the account's data. Several instances may try one account; the lock of its row admits one.

/** Purges every due account; returns their number. */
export async function purgeDueAccounts(service: AccountService): Promise<number> {
  const { clock, configuration, pool } = service;
  for (let purged = 0; ; ) {
    const deletedBefore = new Date(clock.nowMs() - configuration.get("account.retention-days") * dayMs);
    const [due] = (await pool.query<{ id: string; createdAt: Date }>(findDue, [deletedBefore])).rows;
    if (!due) return purged;
    // Erased data would be missing after an undo, so from here on an undo is refused.
    if ((await pool.query(beginPurge, [deletedBefore, due.id, clock.now()])).rowCount === 0) continue;
    // Entries that other services sent earlier are stored by now; later ones are erased as they arrive.
    await inTransaction(pool, (tx) => lockAuditOf(tx, due.id));
    // All but the newest days are erased beforehand: one transaction cannot lock the tables of years.
    const recentMs = clock.nowMs() - recentDays * dayMs;
    for (const stretch of stretchesBack({ fromMs: startOfDay(due.createdAt.getTime()), toMs: recentMs })) {
      await eraseAudit(pool, due.id, stretch);
    }
    if (await inTransaction(pool, (tx) => purgeAccount(service, tx, due.id, recentMs))) purged++;
  }
}

/** Has a locked, deleted account purged within a minute, before its time. It cannot be undone. */
export async function requestPurge(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  reason: string,
): Promise<{ outcome: "changed"; account: Account } | { outcome: "not-deleted" }> {
  if (account.status !== "deleted") return { outcome: "not-deleted" };
  if (account.purgeBegunAt !== null) return { outcome: "changed", account };
  const begun = { ...account, purgeBegunAt: service.clock.now() };
  await tx.query(beginPurge, [account.statusChangedAt, account.id, begun.purgeBegunAt]);
  const by = actorOf(caller, "administrator");
  await recordInAudit(service, tx, by, { action: "account.begin_purge", accountId: account.id, reason });
  return { outcome: "changed", account: begun };
}

async function purgeAccount(service: AccountService, tx: Tx, accountId: string, recentMs: number): Promise<boolean> {
  const { clock, accountStore, outbox } = service;
  const now = clock.now();
  const account = await accountStore.lock(tx, accountId);
  if (account === null || account.purgeBegunAt === null || account.purgedAt !== null) return false;
  const tombstone = tombstoneOf(account, now);
  await accountStore.save(tx, tombstone);
  await outbox.append(tx, [accountDeleted(account, now)]);
  // The new epoch makes every service forget the owner of the logins, so a login can start anew at once.
  await announceAccount(service, tx, tombstone);
  await endMembershipsOf(service, tx, accountId);
  await eraseAccount(tx, accountId);
  await eraseAudit(tx, accountId, { fromMs: recentMs, toMs: now.getTime() + dayMs });
  await recordInAudit(service, tx, systemActor("purge"), { action: "account.purge", accountId });
  return true;
}

/** Builds the tombstone of an account: its id and its times, without a trace of its owner. */
function tombstoneOf(account: Account, now: Date): Account {
  return {
    ...account,
    displayName: "",
    externalId: null,
    metadata: {},
    contactAddress: null,
    contactAddressVerified: false,
    pendingContactAddress: null,
    // BCP 47 for "not known".
    locale: "und",
    timezone: "UTC",
    productUpdates: false,
    statusReason: null,
    roles: [],
    accessEpoch: account.accessEpoch + 1,
    revision: account.revision + 1n,
    settingsRevision: account.settingsRevision + 1n,
    updatedAt: now,
    settingsUpdatedAt: now,
    purgedAt: now,
  };
}

/** Erases every personal trace: logins, mails, codes, links, step-ups, keys, clients and the issuer's records. */
export async function eraseAccount(tx: Tx, accountId: string): Promise<void> {
  for (const statement of erasures) await tx.query(statement, [accountId]);
}

/**
 * Erases the owner's addresses, credentials, reasons and request ids, and the changed fields, from a range of the
 * audit.
 */
async function eraseAudit(db: Queryable, accountId: string, { fromMs, toMs }: Stretch): Promise<void> {
  const stretch = [accountId, firstIdAt(fromMs), firstIdAt(toMs)];
  await db.query(eraseActors, stretch);
  await db.query(eraseSubjects, stretch);
}
