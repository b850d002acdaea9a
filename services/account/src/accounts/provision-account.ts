import { inTransaction, type Pool } from "@signalbox/storage";
import type { Account } from "./account.ts";
import type { AccountStore, Identity } from "./account-store.ts";
import type { ProfileClaims } from "./first-account.ts";
import { type MakeAccountVerb, UsedMeanwhile } from "./make-account.ts";

export interface ProvisionAccount {
  readonly identity: Identity;
  readonly claims: ProfileClaims;
  /** What the identity presented, for the audit. */
  readonly credential: string;
}

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "findByIdentity">;
  readonly makeAccount: MakeAccountVerb;
}

/** The account of an identity, made at its first use. Claims count at the first use alone: later the owner decides. */
export function createProvisionAccount({ pool, accounts, makeAccount }: Dependencies) {
  return async function provisionAccount({ identity, ...input }: ProvisionAccount): Promise<Account> {
    const known = await accounts.findByIdentity(identity);
    if (known) return known;
    try {
      return await inTransaction(pool, (tx) => makeAccount(tx, { ...input, identityOf: () => identity }));
    } catch (error) {
      const winner = error instanceof UsedMeanwhile ? await accounts.findByIdentity(identity) : null;
      if (winner) return winner;
      throw error;
    }
  };
}

export type ProvisionAccountVerb = ReturnType<typeof createProvisionAccount>;
