import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool } from "@signalbox/storage";
import type { Audit } from "../audit/audit.ts";
import type { Account } from "./account.ts";
import { accountCreated } from "./account-events.ts";
import type { AccountStore, Identity } from "./account-store.ts";
import { type FirstValues, firstAccount, type ProfileClaims } from "./first-account.ts";

export interface ProvisionAccount {
  readonly identity: Identity;
  readonly claims: ProfileClaims;
  /** What the identity presented, for the audit. */
  readonly credential: string;
}

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: AccountStore;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Audit;
  readonly clock: Clock;
  /** Asked for each new account, since the supported locales may change while running. */
  readonly firstValues: () => FirstValues;
}

/** The account of an identity, made at its first use. Claims count at the first use alone: later the owner decides. */
export function createProvisionAccount(dependencies: Dependencies) {
  const { pool, accounts, outbox, audit, clock, firstValues } = dependencies;

  return async function provisionAccount(input: ProvisionAccount): Promise<Account> {
    const known = await accounts.findByIdentity(input.identity);
    if (known) return known;
    try {
      return await inTransaction(pool, async (tx) => {
        const account = firstAccount(input.claims, firstValues(), clock.now());
        if (!(await accounts.insert(tx, account, input.identity))) throw new UsedMeanwhile();
        const { credential } = input;
        const by = { kind: "owner" as const, accountId: account.id, credential, address: null, requestId: null };
        await audit.record(tx, { action: "account.create", accountId: account.id, fields: [], by });
        await outbox.append(tx, [accountCreated(account)]);
        return account;
      });
    } catch (error) {
      const winner = error instanceof UsedMeanwhile ? await accounts.findByIdentity(input.identity) : null;
      if (winner) return winner;
      throw error;
    }
  };
}

export type ProvisionAccountVerb = ReturnType<typeof createProvisionAccount>;

/** Two first uses at once: the second one rolls back and takes the account of the first. */
class UsedMeanwhile extends Error {
  override readonly name = "UsedMeanwhile";
}
