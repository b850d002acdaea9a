import { stateRefusal } from "@signalbox/auth";
import { type Queryable, sql, type Tx } from "@signalbox/storage";
import { stateOf } from "../accounts/account.ts";
import type { AccountService } from "../context/account-service.ts";
import { allowsPasskeys } from "./passkey-rules.ts";
import { passkeysOf } from "./passkey-store.ts";

const findAnswer = sql("passkey-offer.find", "select 1 from passkey_offers where account_id = $1");
const noteAnswer = sql(
  "passkey-offer.note",
  "insert into passkey_offers (account_id, answered_at) values ($1, $2) on conflict do nothing",
);

// The offer of a first passkey after a sign-in by code, which a person answers once.

/** Returns true when a person may have a passkey, has none, and was never asked. */
export async function isPasskeyOfferDue(service: AccountService, db: Queryable, accountId: string): Promise<boolean> {
  if (!allowsPasskeys(service)) return false;
  if ((await passkeysOf(db, accountId)).length > 0) return false;
  if ((await db.query(findAnswer, [accountId])).rowCount > 0) return false;
  const account = await service.accountStore.find(accountId);
  return account !== null && stateRefusal(stateOf(account), "own-account:write") === null;
}

/** Notes that a person has made the passkey or declined it: neither is asked again. */
export async function notePasskeyOfferAnswered({ clock }: AccountService, tx: Tx, accountId: string): Promise<void> {
  await tx.query(noteAnswer, [accountId, clock.now()]);
}
