import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { Tx } from "@signalbox/storage";
import type { Audit } from "../audit/audit.ts";
import type { Account } from "./account.ts";
import { accountCreated } from "./account-events.ts";
import type { AccountStore, Identity } from "./account-store.ts";
import { type FirstValues, firstAccount, type ProfileClaims } from "./first-account.ts";

export interface MakeAccount {
  readonly claims: ProfileClaims;
  /** The login that the account is for. */
  readonly identityOf: (account: Account) => Identity;
  /** What the identity presented, for the audit. */
  readonly credential: string;
}

interface Dependencies {
  readonly accounts: Pick<AccountStore, "insert">;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Pick<Audit, "record">;
  readonly clock: Clock;
  /** Asked for each new account, since the supported locales may change while running. */
  readonly firstValues: () => FirstValues;
}

/** Makes an account for a login that has none. @throws UsedMeanwhile when another transaction was first. */
export function createMakeAccount({ accounts, outbox, audit, clock, firstValues }: Dependencies) {
  return async function makeAccount(tx: Tx, { claims, identityOf, credential }: MakeAccount): Promise<Account> {
    const account = firstAccount(claims, firstValues(), clock.now());
    if (!(await accounts.insert(tx, account, identityOf(account)))) throw new UsedMeanwhile();
    const by = { kind: "owner" as const, accountId: account.id, credential, address: null, requestId: null };
    await audit.record(tx, { action: "account.create", accountId: account.id, fields: [], by });
    await outbox.append(tx, [accountCreated(account)]);
    return account;
  };
}

export type MakeAccountVerb = ReturnType<typeof createMakeAccount>;

/** Two first uses at once: the second one rolls back and takes the account of the first. */
export class UsedMeanwhile extends Error {
  override readonly name = "UsedMeanwhile";
}
