import { dayMs, inTransaction, startOfDay, stretchesBack, type Tx } from "@signalbox/storage";
import { announceAccount } from "../access/access-announcements.ts";
import type { Account } from "../accounts/account.ts";
import { accountDeleted } from "../accounts/account-events.ts";
import { lockAuditOf, recordInAudit, systemActor } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { eraseAccount, eraseAudit, findDuePurge, startPurge } from "./purge-store.ts";

/** Refusals may be written until the last moment, also by an instance whose clock differs slightly. */
const recentDays = 2;

// Purges deleted accounts after the time for undoing. A tombstone stays, and `account.deleted` makes the other
// services erase the account's data. Several instances may try one account; the lock of its row admits one.

/** Purges every due account; returns their number. */
export async function purgeDueAccounts(service: AccountService): Promise<number> {
  const { clock, configuration, pool } = service;
  for (let purged = 0; ; ) {
    const deletedBefore = new Date(clock.nowMs() - configuration.get("account.retention-days") * dayMs);
    const due = await findDuePurge(pool, deletedBefore);
    if (due === null) return purged;
    // Erased data would be missing after an undo, so from here on an undo is refused.
    if (!(await startPurge(pool, due.id, deletedBefore, clock.now()))) continue;
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
