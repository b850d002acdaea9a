import type { Clock } from "@signalbox/core";
import { advisoryLock, inTransaction, type Pool, sql, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccountRecords } from "../accounts/account-events.ts";
import { canonicalAddress } from "../accounts/account-fields.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { loseVerification } from "../accounts/contact.ts";
import { systemActor } from "../audit/audit-log.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly accountStore: Pick<AccountStore, "lock" | "save">;
  readonly accountRecords: Pick<AccountRecords, "changed">;
  readonly clock: Clock;
}

export type VerifiedAddresses = ReturnType<typeof createVerifiedAddresses>;

/** Served by the index `accounts_living_address_key`, which also enforces the promise where all else fails. */
const findHolder = sql(
  "verified-address.find-holder",
  `select id from accounts where verified_address = $1 and id <> $2 and status <> 'deleted' and purged_at is null`,
);

/** Served by the index `accounts_unsettled_address_idx`. */
const findUnsettled = sql(
  "verified-address.find-unsettled",
  `select id from accounts where contact_address_verified and verified_address is null order by created_at, id limit 1`,
);

/** Verified addresses; each belongs to one living account. */
export function createVerifiedAddresses({ pool, accountStore, accountRecords, clock }: Dependencies) {
  return {
    holderOf,

    /** Returns a verified address to its previous holder, taking it from the account that has it now. */
    async takeBack(tx: Tx, address: string, accountId: string): Promise<void> {
      const holderId = await holderOf(tx, address, accountId);
      const holder = holderId === null ? null : await accountStore.lock(tx, holderId);
      if (holder) await unverify(tx, holder);
    },

    /**
     * Settles addresses that several accounts have verified: those from before the rule, and those that an older
     * version of this service verifies while it still runs. The oldest account keeps the address.
     */
    async settle(): Promise<void> {
      while (await inTransaction(pool, settleOne));
    },
  };

  /** Settles the oldest unsettled account. Returns false when none is left. */
  async function settleOne(tx: Tx): Promise<boolean> {
    const [unsettled] = (await tx.query<{ id: string }>(findUnsettled)).rows;
    const account = unsettled ? await accountStore.lock(tx, unsettled.id) : null;
    if (!account) return false;
    const isTaken = isLiving(account) && (await holderOf(tx, account.contactAddress ?? "", account.id)) !== null;
    if (isTaken) await unverify(tx, account);
    else await accountStore.save(tx, account);
    return true;
  }

  /** The account keeps its address, unverified, until it is confirmed again. */
  async function unverify(tx: Tx, account: Account): Promise<void> {
    const changed = loseVerification(account, clock.now());
    await accountStore.save(tx, changed.account);
    await accountRecords.changed(tx, systemActor("contact"), "account.contact_release", changed);
  }
}

/**
 * Finds the living account that has verified the address, other than `accountId`. Until the transaction ends no other
 * account can verify it.
 */
async function holderOf(tx: Tx, address: string, accountId: string): Promise<string | null> {
  const canonical = canonicalAddress(address);
  await advisoryLock(tx, `verified address ${canonical}`);
  return (await tx.query<{ id: string }>(findHolder, [canonical, accountId])).rows[0]?.id ?? null;
}

const isLiving = ({ status, purgedAt }: Account): boolean => status !== "deleted" && purgedAt === null;
