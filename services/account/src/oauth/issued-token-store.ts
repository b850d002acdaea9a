import { type Pool, sql, type Tx } from "@signalbox/storage";

/** An access token that was given out, known by its `jti`. */
export interface IssuedToken {
  readonly jti: string;
  /** What a person agreed to; null for a client's own token. */
  readonly grantId: string | null;
  readonly clientId: string;
  readonly accountId: string;
  readonly expiresAt: Date;
}

export interface IssuedTokenStore {
  insert(tx: Tx, token: IssuedToken): Promise<void>;
  find(jti: string): Promise<IssuedToken | null>;
  /** Removes a token and answers it; null when it is not there. */
  take(tx: Tx, jti: string): Promise<IssuedToken | null>;
  /** Removes the tokens of a grant and answers them. */
  takeOfGrant(tx: Tx, grantId: string): Promise<readonly IssuedToken[]>;
  /** Removes up to `limit` tokens that ended before `at`; how many there were. */
  trim(at: Date, limit: number): Promise<number>;
}

const columns = `jti, grant_id as "grantId", client_id as "clientId", account_id as "accountId", expires_at as "expiresAt"`;

const insertToken = sql(
  "issued-token.insert",
  `insert into oauth_issued_tokens (jti, grant_id, client_id, account_id, expires_at) values ($1, $2, $3, $4, $5)`,
);
const findToken = sql("issued-token.find", `select ${columns} from oauth_issued_tokens where jti = $1`);
const takeToken = sql("issued-token.take", `delete from oauth_issued_tokens where jti = $1 returning ${columns}`);
const takeTokens = sql(
  "issued-token.take-of-grant",
  `delete from oauth_issued_tokens where grant_id = $1 returning ${columns}`,
);
const trimTokens = sql(
  "issued-token.trim",
  `delete from oauth_issued_tokens where jti in (
     select jti from oauth_issued_tokens where expires_at <= $1 limit $2 for update skip locked)`,
);

/** The access tokens that are good, in PostgreSQL: a revoked one is gone from here. */
export function createIssuedTokenStore(pool: Pool): IssuedTokenStore {
  return {
    async insert(tx, { jti, grantId, clientId, accountId, expiresAt }) {
      await tx.query(insertToken, [jti, grantId, clientId, accountId, expiresAt]);
    },
    async find(jti) {
      return (await pool.query<IssuedToken>(findToken, [jti])).rows[0] ?? null;
    },
    async take(tx, jti) {
      return (await tx.query<IssuedToken>(takeToken, [jti])).rows[0] ?? null;
    },
    async takeOfGrant(tx, grantId) {
      return (await tx.query<IssuedToken>(takeTokens, [grantId])).rows;
    },
    async trim(at, limit) {
      return (await pool.query(trimTokens, [at, limit])).rowCount;
    },
  };
}
