import { inTransaction, sql, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { holderOfAddress } from "../accounts/account-store.ts";
import { loseVerification } from "../accounts/contact.ts";
import { recordAccountChange, systemActor } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";

/** Served by the index `accounts_unsettled_address_idx`. */
const findUnsettled = sql(
  "verified-address.find-unsettled",
  `select id from accounts where contact_address_verified and verified_address is null order by created_at, id limit 1`,
);

// Verified addresses; each belongs to one living account.

/** Returns a verified address to its previous holder, taking it from the account that has it now. */
export async function takeBackAddress(
  service: AccountService,
  tx: Tx,
  address: string,
  accountId: string,
): Promise<void> {
  const holderId = await holderOfAddress(tx, address, accountId);
  const holder = holderId === null ? null : await service.accountStore.lock(tx, holderId);
  if (holder) await unverify(service, tx, holder);
}

/**
 * Settles addresses that several accounts have verified: those from before the rule, and those that an older
 * version of this service verifies while it still runs. The oldest account keeps the address.
 */
export async function settleAddresses(service: AccountService): Promise<void> {
  while (await inTransaction(service.pool, (tx) => settleOne(service, tx)));
}

/** Settles the oldest unsettled account. Returns false when none is left. */
async function settleOne(service: AccountService, tx: Tx): Promise<boolean> {
  const [unsettled] = (await tx.query<{ id: string }>(findUnsettled)).rows;
  const account = unsettled ? await service.accountStore.lock(tx, unsettled.id) : null;
  if (!account) return false;
  const isTaken = isLiving(account) && (await holderOfAddress(tx, account.contactAddress ?? "", account.id)) !== null;
  if (isTaken) await unverify(service, tx, account);
  else await service.accountStore.save(tx, account);
  return true;
}

/** The account keeps its address, unverified, until it is confirmed again. */
async function unverify(service: AccountService, tx: Tx, account: Account): Promise<void> {
  const changed = loseVerification(account, service.clock.now());
  await service.accountStore.save(tx, changed.account);
  await recordAccountChange(service, tx, systemActor("contact"), "account.contact_release", changed);
}

const isLiving = ({ status, purgedAt }: Account): boolean => status !== "deleted" && purgedAt === null;
