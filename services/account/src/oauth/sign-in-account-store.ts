import type { AccountState } from "@signalbox/contracts";
import { type Queryable, sql } from "@signalbox/storage";

/** What a sign-in has to know of an account. */
interface SignInAccount {
  readonly id: string;
  /** Verified, and spelled as it was when it was. */
  readonly contactAddress: string;
  readonly status: AccountState;
  readonly locale: string;
}

export interface SignInAccountStore {
  /** The accounts whose verified contact address this is in any case, first the one to sign in to. */
  findByAddress(db: Queryable, address: string): Promise<readonly SignInAccount[]>;
}

/** The index `accounts_verified_address_idx` is for this. */
const findAccounts = sql(
  "sign-in.find-accounts",
  `select id, contact_address as "contactAddress", status, locale from accounts
   where lower(contact_address) = lower($1) and contact_address_verified and purged_at is null
   order by status in ('active', 'pending') desc, status <> 'deleted' desc, contact_address = $1 desc, created_at, id
   limit 20`,
);

export function createSignInAccountStore(): SignInAccountStore {
  return {
    async findByAddress(db, address) {
      return (await db.query<SignInAccount>(findAccounts, [address])).rows;
    },
  };
}
