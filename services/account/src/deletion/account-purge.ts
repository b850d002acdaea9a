import { dayMs, inTransaction, startOfDay, stretchesBack, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { accountDeleted } from "../accounts/account-events.ts";
import { lockAuditOf, systemActor } from "../audit/audit.ts";
import type { Shared } from "../shared.ts";
import type { PurgeStore } from "./purge-store.ts";

interface PurgeDependencies extends Pick<Shared, "pool" | "accounts" | "access" | "outbox" | "audit" | "clock"> {
  readonly purgeStore: PurgeStore;
  /** How long a deletion can be undone, in days. */
  readonly retentionDays: () => number;
}

/** Refusals may be written until the last moment, also by a clock that is not quite ours. */
const recentDays = 2;

/**
 * Purges the accounts whose time to be undeleted is over. A tombstone stays, and `account.deleted` makes the other services
 * drop what the account had. Several instances may try one account; its row lets one of them.
 */
export function createAccountPurge(dependencies: PurgeDependencies) {
  const { pool, accounts, purgeStore, access, outbox, audit, clock, retentionDays } = dependencies;

  return {
    /** Purges every account that is due; answers how many. */
    async run(): Promise<number> {
      for (let purged = 0; ; ) {
        const deletedBefore = new Date(clock.nowMs() - retentionDays() * dayMs);
        const due = await purgeStore.findDue(deletedBefore);
        if (due === null) return purged;
        // What is erased now would be missing after an undo, so from here on there is none.
        if (!(await purgeStore.begin(due.id, deletedBefore, clock.now()))) continue;
        // Entries that other services sent before are in now; those that come later are erased as they come.
        await inTransaction(pool, (tx) => lockAuditOf(tx, due.id));
        // Of years of audit all but the newest days are done before: one transaction cannot hold a lock on each day.
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
    const account = await accounts.lock(tx, accountId);
    if (account === null || account.purgeBegunAt === null || account.purgedAt !== null) return false;
    const tombstone = tombstoneOf(account, now);
    await accounts.save(tx, tombstone);
    await outbox.append(tx, [accountDeleted(account, now)]);
    // With a new epoch every service forgets whom the logins belonged to, and they start anew at once.
    await access.announceAccount(tx, tombstone);
    await purgeStore.erase(tx, accountId);
    await purgeStore.eraseAudit(tx, accountId, { fromMs: recentMs, toMs: now.getTime() + dayMs });
    await audit.record(tx, systemActor("purge"), { action: "account.purge", accountId });
    return true;
  }
}

/** Makes the tombstone of an account: it was there, and came and went at these times. Nothing tells whose it was. */
function tombstoneOf(account: Account, now: Date): Account {
  return {
    ...account,
    displayName: "",
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
