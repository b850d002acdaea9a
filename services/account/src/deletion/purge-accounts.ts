import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AccessLog } from "../access/access-log.ts";
import { accountDeleted } from "../accounts/account-events.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import { dayMs, startOfDay, stretchesBack } from "../audit/audit-days.ts";
import type { PurgeStore } from "./purge-store.ts";
import { tombstoneOf } from "./tombstone.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock" | "save">;
  readonly purges: PurgeStore;
  readonly accessLog: Pick<AccessLog, "announce">;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Audit;
  readonly clock: Clock;
  /** How long a deletion can be undone, in days. */
  readonly retentionDays: () => number;
}

/** Refusals may be written until the last moment, also by a clock that is not quite ours. */
const recentDays = 2;
const by: Actor = { kind: "system", accountId: null, credential: "purge", address: null, requestId: null };

/**
 * Purges every account whose time to be undeleted is over; answers how many. A tombstone stays, and `account.deleted`
 * makes the other services drop what the account had. Several instances may try one account; its row lets one of them.
 */
export function createPurgeAccounts(dependencies: Dependencies) {
  const { pool, accounts, purges, accessLog, outbox, audit, clock, retentionDays } = dependencies;

  return async function purgeAccounts(): Promise<number> {
    for (let purged = 0; ; ) {
      const deletedBefore = new Date(clock.nowMs() - retentionDays() * dayMs);
      const due = await purges.findDue(deletedBefore);
      if (due === null) return purged;
      // What is erased now would be missing after an undo, so from here on there is none.
      if (!(await purges.begin(due.id, deletedBefore, clock.now()))) continue;
      // Of years of audit all but the newest days are done before: one transaction cannot hold a lock on each day.
      const recentMs = clock.nowMs() - recentDays * dayMs;
      for (const stretch of stretchesBack({ fromMs: startOfDay(due.createdAt.getTime()), toMs: recentMs })) {
        await purges.eraseAudit(pool, due.id, stretch);
      }
      if (await inTransaction(pool, (tx) => purge(tx, due.id, recentMs))) purged++;
    }
  };

  async function purge(tx: Tx, id: string, recentMs: number): Promise<boolean> {
    const now = clock.now();
    const account = await accounts.lock(tx, id);
    if (account === null || account.purgeBegunAt === null || account.purgedAt !== null) return false;
    const tombstone = tombstoneOf(account, now);
    const { id: accountId, accessEpoch: epoch } = tombstone;
    await accounts.save(tx, tombstone);
    await outbox.append(tx, [accountDeleted(account, now)]);
    // With a new epoch every service forgets whom the logins belonged to, and they start anew at once.
    await accessLog.announce(tx, { kind: "account", id: accountId, accountId, state: "deleted", epoch }, now);
    await purges.erase(tx, accountId);
    await purges.eraseAudit(tx, accountId, { fromMs: recentMs, toMs: now.getTime() + dayMs });
    await audit.record(tx, { action: "account.purge", accountId, fields: [], by });
    return true;
  }
}
