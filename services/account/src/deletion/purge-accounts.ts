import { type Clock, hours } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AccessLog } from "../access/access-log.ts";
import { accountDeleted } from "../accounts/account-events.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit.ts";
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

const by: Actor = { kind: "system", accountId: null, credential: "purge", address: null, requestId: null };

/**
 * Purges every account whose time to be undeleted is over; answers how many. A tombstone stays, and `account.deleted`
 * makes the other services drop what the account had. Several instances share the work.
 */
export function createPurgeAccounts(dependencies: Dependencies) {
  const { pool, accounts, purges, accessLog, outbox, audit, clock, retentionDays } = dependencies;

  return async function purgeAccounts(): Promise<number> {
    let purged = 0;
    while (await inTransaction(pool, purgeNext)) purged++;
    return purged;
  };

  async function purgeNext(tx: Tx): Promise<boolean> {
    const now = clock.now();
    const id = await purges.takeDue(tx, new Date(now.getTime() - retentionDays() * hours(24)));
    const account = id === null ? null : await accounts.lock(tx, id);
    if (account === null) return false;
    const tombstone = tombstoneOf(account, now);
    const { id: accountId, accessEpoch: epoch } = tombstone;
    await accounts.save(tx, tombstone);
    await outbox.append(tx, [accountDeleted(account, now)]);
    // With a new epoch every service forgets whom the logins belonged to, and they start anew at once.
    await accessLog.announce(tx, { kind: "account", id: accountId, accountId, state: "deleted", epoch }, now);
    await purges.erase(tx, accountId);
    await audit.record(tx, { action: "account.purge", accountId, fields: [], by });
    return true;
  }
}
