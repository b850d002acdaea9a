import { sql, type Tx } from "@signalbox/storage";

export interface AccountSignInStore {
  /** Removes what lets a person of an account go on without signing in: sessions, grants, codes, refresh tokens. */
  removeState(tx: Tx, accountId: string): Promise<void>;
  /** Removes the access tokens that came of them and answers them. A service client's own tokens stay. */
  takeTokens(tx: Tx, accountId: string): Promise<readonly { readonly jti: string; readonly expiresAt: Date }[]>;
}

const removeState = sql("oauth-state.remove-of-account", "delete from oauth_state where account_id = $1");
const takeTokens = sql(
  "issued-token.take-of-account",
  `delete from oauth_issued_tokens where account_id = $1 and grant_id is not null
   returning jti, expires_at as "expiresAt"`,
);

/** What the built-in issuer keeps of the sign-ins of one account. */
export function createAccountSignInStore(): AccountSignInStore {
  return {
    async removeState(tx, accountId) {
      await tx.query(removeState, [accountId]);
    },
    async takeTokens(tx, accountId) {
      return (await tx.query<{ jti: string; expiresAt: Date }>(takeTokens, [accountId])).rows;
    },
  };
}
