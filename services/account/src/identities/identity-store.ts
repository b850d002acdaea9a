import { type Pool, type Queryable, sql, type Tx } from "@signalbox/storage";
import type { Identity } from "../accounts/account-store.ts";
import type { LinkedIdentity } from "./identity.ts";

export interface IdentityStore {
  /** The logins of an account, the oldest first. */
  list(accountId: string, db?: Queryable): Promise<readonly LinkedIdentity[]>;
  /** Adds a login to an account. Returns false when an account already has it. */
  insert(tx: Tx, accountId: string, identity: LinkedIdentity): Promise<boolean>;
  remove(tx: Tx, accountId: string, identity: Identity): Promise<void>;
  /** Returns true when an API key that is valid at `now` could manage the account without any login. */
  hasManagingKey(tx: Tx, accountId: string, now: Date): Promise<boolean>;
}

const listIdentities = sql(
  "identity.list",
  `select issuer, subject, created_at as "createdAt" from identities
   where account_id = $1 order by created_at, issuer, subject`,
);
const linkIdentity = sql(
  "identity.link",
  `insert into identities (issuer, subject, account_id, created_at) values ($1, $2, $3, $4) on conflict do nothing`,
);
const unlinkIdentity = sql(
  "identity.unlink",
  "delete from identities where issuer = $1 and subject = $2 and account_id = $3",
);
const findManagingKey = sql(
  "identity.find-managing-key",
  `select 1 from api_keys where account_id = $1 and revoked_at is null and (expires_at is null or expires_at > $2)
     and 'account:security' = any(scopes) limit 1`,
);

/** The logins of accounts. Writers lock the account first. */
export function createIdentityStore(pool: Pool): IdentityStore {
  return {
    async list(accountId, db = pool) {
      return (await db.query<LinkedIdentity>(listIdentities, [accountId])).rows;
    },
    async insert(tx, accountId, { issuer, subject, createdAt }) {
      return (await tx.query(linkIdentity, [issuer, subject, accountId, createdAt])).rowCount === 1;
    },
    async remove(tx, accountId, { issuer, subject }) {
      await tx.query(unlinkIdentity, [issuer, subject, accountId]);
    },
    async hasManagingKey(tx, accountId, now) {
      return (await tx.query(findManagingKey, [accountId, now])).rowCount > 0;
    },
  };
}
