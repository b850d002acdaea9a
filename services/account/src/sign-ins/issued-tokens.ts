import { builtInIssuer } from "@signalbox/auth";
import { type Clock, minutes } from "@signalbox/core";
import { type Pool, type RetentionRule, type Statement, sql, type Tx } from "@signalbox/storage";
import type { AccessAnnouncements } from "../access/access-announcements.ts";
import type { Actor, Audit } from "../audit/audit-log.ts";
import type { StateStore } from "../identity/state/state-store.ts";
import type { SignIn } from "./sign-in.ts";
import type { SignInStore } from "./sign-in-store.ts";

export type IssuedTokens = ReturnType<typeof createIssuedTokens>;

/** An issued access token, identified by its `jti`. */
interface IssuedToken {
  readonly jti: string;
  /** The grant of a person; null for a client's own token. */
  readonly grantId: string | null;
  readonly clientId: string;
  readonly accountId: string;
  readonly expiresAt: Date;
}

interface Dependencies {
  readonly pool: Pool;
  readonly access: Pick<AccessAnnouncements, "announce">;
  readonly audit: Pick<Audit, "record">;
  readonly clock: Clock;
  readonly stateStore: Pick<
    StateStore,
    "lockGrant" | "removeGrant" | "removeSession" | "removeOfAccount" | "removeOthers"
  >;
  readonly signInStore: Pick<
    SignInStore,
    "touch" | "findBySession" | "grantsOf" | "remove" | "removeOfAccount" | "removeOthers"
  >;
}

/**
 * The tokens of the built-in issuer: recorded before they are returned, and revocable. Every service learns of a
 * revoked access token on the state topic and refuses it.
 */
export function createIssuedTokens(dependencies: Dependencies) {
  const { pool, stateStore, signInStore, clock } = dependencies;

  return {
    /** Finds a valid access token; revoked ones are deleted. */
    async find(jti: string): Promise<IssuedToken | null> {
      return (await pool.query<IssuedToken>(findToken, [jti])).rows[0] ?? null;
    },

    /** Records an access token. A grant that ends meanwhile revokes the token, or prevents it. */
    async record(tx: Tx, token: IssuedToken): Promise<"recorded" | "grant-ended"> {
      if (token.grantId !== null && !(await stateStore.lockGrant(tx, token.grantId))) return "grant-ended";
      const { jti, grantId, clientId, accountId, expiresAt } = token;
      await tx.query(insertToken, [jti, grantId, clientId, accountId, expiresAt]);
      if (grantId !== null) await signInStore.touch(tx, grantId, clock.now());
      return "recorded";
    },

    /** Revokes one access token and nothing else of its grant. */
    async revoke(tx: Tx, jti: string): Promise<void> {
      await endByHolder(tx, await take(tx, takeToken, jti), dependencies);
    },

    /** Revokes a grant: refresh tokens, codes, and access tokens. */
    async revokeGrant(tx: Tx, grantId: string): Promise<void> {
      await stateStore.removeGrant(tx, grantId);
      await endByHolder(tx, await take(tx, takeOfGrant, grantId), dependencies);
    },

    /** Revokes the access tokens of an application; without it, its refresh tokens are nobody's. */
    async revokeOfClient(tx: Tx, clientId: string): Promise<void> {
      await end(tx, await take(tx, takeOfClient, clientId), dependencies);
    },

    /** Revokes one sign-in: its session, grants and tokens. */
    async revokeSignIn(tx: Tx, { id, session }: Pick<SignIn, "id" | "session">): Promise<void> {
      await stateStore.removeSession(tx, session);
      for (const grantId of await signInStore.grantsOf(tx, id)) {
        await stateStore.removeGrant(tx, grantId);
        await end(tx, await take(tx, takeOfGrant, grantId), dependencies);
      }
      // Last, because recording a token locks the grant before the sign-in.
      await signInStore.remove(tx, id);
    },

    /** Revokes every sign-in to an account: sessions, grants and tokens. Service clients keep theirs. */
    async revokeSignIns(tx: Tx, accountId: string): Promise<void> {
      await stateStore.removeOfAccount(tx, accountId);
      await end(tx, await take(tx, takeOfSignIns, accountId), dependencies);
      await signInStore.removeOfAccount(tx, accountId);
    },

    /** Revokes every sign-in to an account but that of one session, as `revokeSignIns` does. */
    async revokeOtherSignIns(tx: Tx, accountId: string, session: Buffer): Promise<void> {
      const kept = await signInStore.findBySession(tx, accountId, session);
      const grants = kept ? await signInStore.grantsOf(tx, kept.id) : [];
      await stateStore.removeOthers(tx, accountId, session, grants);
      await end(tx, await take(tx, takeOfOthers, accountId, grants), dependencies);
      await signInStore.removeOthers(tx, accountId, session);
    },
  };
}

/** Announces the end of tokens that have not expired, and returns them. */
async function end(
  tx: Tx,
  taken: readonly IssuedToken[],
  { access, clock }: Pick<Dependencies, "access" | "clock">,
): Promise<readonly IssuedToken[]> {
  const now = clock.now();
  const early = taken.filter(({ expiresAt }) => expiresAt > now);
  for (const { jti, accountId } of early) {
    // A token is announced once: its row is deleted.
    const change = { kind: "token", id: idOf(jti), accountId, state: "revoked", epoch: 1 } as const;
    await access.announce(tx, change);
  }
  return early;
}

/** Ends the tokens, and records in the audit that the holder of each revoked it. */
async function endByHolder(tx: Tx, taken: readonly IssuedToken[], parts: Dependencies): Promise<void> {
  for (const { jti, accountId } of await end(tx, taken, parts)) {
    const subject = idOf(jti);
    const by = holderOf(accountId, subject);
    await parts.audit.record(tx, by, { action: "token.revoke", accountId, subject, fields: ["status"] });
  }
}

/** The id of a token on the state topic and in the audit. */
const idOf = (jti: string): string => `${idPrefix}${jti}`;
const idPrefix = `jti:${builtInIssuer}:`;

/** The `jti` of one of our tokens from its credential id; null for any other credential. */
export const jtiOf = (credentialId: string): string | null =>
  credentialId.startsWith(idPrefix) ? credentialId.slice(idPrefix.length) : null;

/** Any holder may revoke a token, so the holder is the actor. */
const holderOf = (accountId: string, credential: string): Actor => ({
  kind: "owner",
  accountId,
  credential,
  address: null,
  requestId: null,
});

const columns = `jti, grant_id as "grantId", client_id as "clientId", account_id as "accountId", expires_at as "expiresAt"`;

const insertToken = sql(
  "issued-token.insert",
  `insert into oauth_issued_tokens (jti, grant_id, client_id, account_id, expires_at) values ($1, $2, $3, $4, $5)`,
);
const findToken = sql("issued-token.find", `select ${columns} from oauth_issued_tokens where jti = $1`);
const takeToken = sql("issued-token.take", `delete from oauth_issued_tokens where jti = $1 returning ${columns}`);
const takeOfGrant = sql(
  "issued-token.take-of-grant",
  `delete from oauth_issued_tokens where grant_id = $1 returning ${columns}`,
);
const takeOfClient = sql(
  "issued-token.take-of-client",
  `delete from oauth_issued_tokens where client_id = $1 returning ${columns}`,
);
const takeOfSignIns = sql(
  "issued-token.take-of-sign-ins",
  `delete from oauth_issued_tokens where account_id = $1 and grant_id is not null returning ${columns}`,
);

const takeOfOthers = sql(
  "issued-token.take-of-others",
  `delete from oauth_issued_tokens where account_id = $1 and grant_id <> all($2) returning ${columns}`,
);

/** Deletes tokens and returns them. */
async function take(tx: Tx, statement: Statement, ...key: readonly unknown[]): Promise<readonly IssuedToken[]> {
  return (await tx.query<IssuedToken>(statement, [...key])).rows;
}

/** Clocks differ: a token that has just ended here may still be looked up elsewhere. */
export const issuedTokenRetention: RetentionRule = {
  name: "issued token retention",
  table: "oauth_issued_tokens",
  column: "expires_at",
  keepMs: minutes(5),
};
