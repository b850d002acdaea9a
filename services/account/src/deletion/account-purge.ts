import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { dayMs, inTransaction, type Pool, startOfDay, stretchesBack, type Tx } from "@signalbox/storage";
import type { AccessAnnouncements } from "../access/access-announcements.ts";
import type { Account } from "../accounts/account.ts";
import { accountDeleted } from "../accounts/account-events.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { type Audit, lockAuditOf, systemActor } from "../audit/audit-log.ts";
import type { PurgeStore } from "./purge-store.ts";

interface PurgeDependencies {
  readonly pool: Pool;
  readonly accountStore: Pick<AccountStore, "lock" | "save">;
  readonly purgeStore: PurgeStore;
  readonly access: Pick<AccessAnnouncements, "announceAccount">;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Pick<Audit, "record">;
  readonly clock: Clock;
  /** Days within which a deletion can be undone. */
  readonly retentionDays: () => number;
}

export type AccountPurge = ReturnType<typeof createAccountPurge>;

/** Refusals may be written until the last moment, also by an instance whose clock differs slightly. */
const recentDays = 2;

/**
 * Purges deleted accounts after the time for undoing. A tombstone stays, and `account.deleted` makes the other services
 * erase the account's data. Several instances may try one account; the lock of its row admits one.
 */
export function createAccountPurge(dependencies: PurgeDependencies) {
  const { pool, accountStore, purgeStore, access, outbox, audit, clock, retentionDays } = dependencies;

  return {
    /** Purges every due account; returns their number. */
    async run(): Promise<number> {
      for (let purged = 0; ; ) {
        const deletedBefore = new Date(clock.nowMs() - retentionDays() * dayMs);
        const due = await purgeStore.findDue(deletedBefore);
        if (due === null) return purged;
        // Erased data would be missing after an undo, so from here on an undo is refused.
        if (!(await purgeStore.begin(due.id, deletedBefore, clock.now()))) continue;
        // Entries that other services sent earlier are stored by now; later ones are erased as they arrive.
        await inTransaction(pool, (tx) => lockAuditOf(tx, due.id));
        // All but the newest days are erased beforehand: one transaction cannot lock the tables of years.
        const recentMs = clock.nowMs() - recentDays * dayMs;
        for (const stretch of stretchesBack({ fromMs: startOfDay(due.createdAt.getTime()), toMs: recentMs })) {
          await purgeStore.eraseAudit(pool, due.id, stretch);
        }
        if (await inTransaction(pool, (tx) => purge(tx, due.id, recentMs))) purged++;
      }
    },
  };

  async function purge(tx: Tx, accountId: string, recentMs: number): Promise<boolean> {
    const now = clock.now();
    const account = await accountStore.lock(tx, accountId);
    if (account === null || account.purgeBegunAt === null || account.purgedAt !== null) return false;
    const tombstone = tombstoneOf(account, now);
    await accountStore.save(tx, tombstone);
    await outbox.append(tx, [accountDeleted(account, now)]);
    // The new epoch makes every service forget the owner of the logins, so a login can start anew at once.
    await access.announceAccount(tx, tombstone);
    await purgeStore.erase(tx, accountId);
    await purgeStore.eraseAudit(tx, accountId, { fromMs: recentMs, toMs: now.getTime() + dayMs });
    await audit.record(tx, systemActor("purge"), { action: "account.purge", accountId });
    return true;
  }
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
