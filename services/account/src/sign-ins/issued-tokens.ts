import { minutes } from "@signalbox/core";
import { type RetentionRule, type Statement, sql, type Tx } from "@signalbox/storage";
import { announceAccess } from "../access/access-announcements.ts";
import { issuedTokenId } from "../access/issued-token-id.ts";
import { type Actor, recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import {
  deleteGrant,
  deleteOtherState,
  deleteSession,
  deleteStateOf,
  lockLiveGrant,
} from "../identity/state/state-store.ts";
import type { SignIn } from "./sign-in.ts";
import { recordEnd } from "./sign-in-events.ts";
import {
  deleteOtherSignIns,
  deleteSignIn,
  deleteSignInsOf,
  findSignInBySession,
  grantsOfSignIn,
  touchSignInOf,
} from "./sign-in-store.ts";

/** An issued access token, identified by its `jti`. */
interface IssuedToken {
  readonly jti: string;
  /** The grant of a person; null for a client's own token. */
  readonly grantId: string | null;
  readonly clientId: string;
  readonly accountId: string;
  readonly expiresAt: Date;
}

type EndedSignIn = Pick<SignIn, "id" | "accountId" | "session">;

// The tokens of the built-in issuer: recorded before they are returned, and revocable. Every service learns of a
// revoked access token on the state topic and refuses it.

/** Finds a valid access token; revoked ones are deleted. */
export async function findIssuedToken({ pool }: AccountService, jti: string): Promise<IssuedToken | null> {
  return (await pool.query<IssuedToken>(findToken, [jti])).rows[0] ?? null;
}

/** Records an access token. A grant that ends meanwhile revokes the token, or prevents it. */
export async function recordIssuedToken(
  { clock }: AccountService,
  tx: Tx,
  token: IssuedToken,
): Promise<"recorded" | "grant-ended"> {
  if (token.grantId !== null && !(await lockLiveGrant(tx, token.grantId))) return "grant-ended";
  const { jti, grantId, clientId, accountId, expiresAt } = token;
  await tx.query(insertToken, [jti, grantId, clientId, accountId, expiresAt]);
  if (grantId !== null) await touchSignInOf(tx, grantId, clock.now());
  return "recorded";
}

/** Revokes one access token and nothing else of its grant. */
export async function revokeToken(service: AccountService, tx: Tx, jti: string): Promise<void> {
  await endByHolder(service, tx, await take(tx, takeToken, jti));
}

/** Revokes a grant: refresh tokens, codes, and access tokens. */
export async function revokeGrant(service: AccountService, tx: Tx, grantId: string): Promise<void> {
  await deleteGrant(tx, grantId);
  await endByHolder(service, tx, await take(tx, takeOfGrant, grantId));
}

/** Revokes the access tokens of an application; without it, its refresh tokens are nobody's. */
export async function revokeTokensOfClient(service: AccountService, tx: Tx, clientId: string): Promise<void> {
  await end(service, tx, await take(tx, takeOfClient, clientId));
}

/** Revokes one sign-in: its session, grants and tokens. */
export async function revokeSignIn(service: AccountService, tx: Tx, signIn: EndedSignIn): Promise<void> {
  const { id, accountId, session } = signIn;
  await deleteSession(tx, session);
  for (const grantId of await grantsOfSignIn(tx, id)) {
    await deleteGrant(tx, grantId);
    await end(service, tx, await take(tx, takeOfGrant, grantId));
  }
  // Last, because recording a token locks the grant before the sign-in.
  await deleteSignIn(tx, id);
  await recordEnd(service, tx, accountId, { ended: "one", sign_in_id: id });
}

/** Revokes every sign-in to an account: sessions, grants and tokens. Service clients keep theirs. */
export async function revokeSignIns(service: AccountService, tx: Tx, accountId: string): Promise<void> {
  await deleteStateOf(tx, accountId);
  await end(service, tx, await take(tx, takeOfSignIns, accountId));
  await deleteSignInsOf(tx, accountId);
  await recordEnd(service, tx, accountId, { ended: "all", sign_in_id: null });
}

/** Revokes every sign-in to an account but that of one session, as `revokeSignIns` does. */
export async function revokeOtherSignIns(
  service: AccountService,
  tx: Tx,
  accountId: string,
  session: Buffer,
): Promise<void> {
  const kept = await findSignInBySession(tx, accountId, session);
  const grants = kept === null ? [] : await grantsOfSignIn(tx, kept);
  await deleteOtherState(tx, accountId, session, grants);
  await end(service, tx, await take(tx, takeOfOthers, accountId, grants));
  await deleteOtherSignIns(tx, accountId, session);
  await recordEnd(service, tx, accountId, { ended: "others", sign_in_id: null });
}

/** Announces the end of tokens that have not expired, and returns them. */
async function end(service: AccountService, tx: Tx, taken: readonly IssuedToken[]): Promise<readonly IssuedToken[]> {
  const now = service.clock.now();
  const early = taken.filter(({ expiresAt }) => expiresAt > now);
  for (const { jti, accountId } of early) {
    // A token is announced once: its row is deleted.
    const change = { kind: "token", id: issuedTokenId(jti), accountId, state: "revoked", epoch: 1 } as const;
    await announceAccess(service, tx, change);
  }
  return early;
}

/** Ends the tokens, and records in the audit that the holder of each revoked it. */
async function endByHolder(service: AccountService, tx: Tx, taken: readonly IssuedToken[]): Promise<void> {
  for (const { jti, accountId } of await end(service, tx, taken)) {
    const subject = issuedTokenId(jti);
    // Any holder may revoke a token, so the holder is the actor.
    const by: Actor = { kind: "owner", accountId, credential: subject, address: null, requestId: null };
    await recordInAudit(service, tx, by, { action: "token.revoke", accountId, subject, fields: ["status"] });
  }
}

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
