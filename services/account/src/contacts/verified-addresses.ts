import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { advisoryLock, inTransaction, type Pool, sql, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { accountChanged } from "../accounts/account-events.ts";
import { canonicalAddress } from "../accounts/account-fields.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { type Audit, systemActor } from "../audit/audit.ts";
import { loseVerification } from "./contact-transitions.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock" | "save">;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Audit;
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
export function createVerifiedAddresses(dependencies: Dependencies) {
  const { pool, accounts } = dependencies;

  return {
    holderOf,

    /** Returns a verified address to its previous holder, taking it from the account that has it now. */
    async takeBack(tx: Tx, address: string, accountId: string): Promise<void> {
      const holderId = await holderOf(tx, address, accountId);
      const holder = holderId === null ? null : await accounts.lock(tx, holderId);
      if (holder) await unverify(dependencies, tx, holder);
    },

    /**
     * Settles addresses that several accounts have verified: those from before the rule, and those that an older
     * version of this service verifies while it still runs. The oldest account keeps the address.
     */
    async settle(): Promise<void> {
      while (await inTransaction(pool, (tx) => settleOne(dependencies, tx)));
    },
  };
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

/** Settles the oldest unsettled account. Returns false when none is left. */
async function settleOne(dependencies: Dependencies, tx: Tx): Promise<boolean> {
  const { accounts } = dependencies;
  const [unsettled] = (await tx.query<{ id: string }>(findUnsettled)).rows;
  const account = unsettled ? await accounts.lock(tx, unsettled.id) : null;
  if (!account) return false;
  const isTaken = isLiving(account) && (await holderOf(tx, account.contactAddress ?? "", account.id)) !== null;
  if (isTaken) await unverify(dependencies, tx, account);
  else await accounts.save(tx, account);
  return true;
}

const isLiving = ({ status, purgedAt }: Account): boolean => status !== "deleted" && purgedAt === null;

/** The account keeps its address, unverified, until it is confirmed again. */
async function unverify({ accounts, audit, outbox, clock }: Dependencies, tx: Tx, account: Account): Promise<void> {
  const changed = loseVerification(account, clock.now());
  await accounts.save(tx, changed.account);
  const [accountId, fields] = [account.id, changed.accountFields];
  await audit.record(tx, systemActor("contact"), { action: "account.contact_release", accountId, fields });
  await outbox.append(tx, accountChanged(changed));
}
