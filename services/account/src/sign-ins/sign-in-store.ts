import { hours, minutes, randomId } from "@signalbox/core";
import {
  type ListRange,
  newestFirst,
  type Queryable,
  type RetentionRule,
  rangeValues,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import type { ListedSignIn, SignIn } from "./sign-in.ts";

/** A browser session that granted an application something. */
interface NotedSession extends Omit<SignIn, "id" | "createdAt" | "lastUsedAt"> {
  /** The digest of its `uid`. */
  readonly session: Buffer;
  readonly at: Date;
}

interface NotedGrant {
  readonly id: string;
  readonly expiresAt: Date;
}

/** Time and token of the request for the list. */
interface View {
  readonly now: Date;
  /** The requesting token, when it may belong to a listed sign-in. */
  readonly jti?: string | null;
}

const signIns = table("sign_ins", columns.sign_ins);

/** A session keeps its sign-in: another application, or another code, is another grant of the same sign-in. */
const noteSignIn = sql(
  "sign-in.note",
  `with noted as (
     insert into sign_ins (id, account_id, session, browser, address, created_at, last_used_at)
     values ($1, $2, $3, $4, $5, $6, $6)
     on conflict (session) do update set last_used_at = excluded.last_used_at
       where sign_ins.account_id = excluded.account_id
     returning id)
   insert into sign_in_grants (grant_id, sign_in_id, account_id, expires_at)
   select $7, id, $2, $8 from noted
   on conflict (grant_id) do update set sign_in_id = excluded.sign_in_id, expires_at = excluded.expires_at`,
);

const touchSignIn = sql(
  "sign-in.touch",
  `update sign_ins set last_used_at = $2
   where id = (select sign_in_id from sign_in_grants where grant_id = $1) and last_used_at < $3`,
);

const ofItsGrants = "grant_id in (select grant_id from sign_in_grants where sign_in_id = sign_ins.id)";

/** A sign-in is alive while any part of it is valid: the browser's session, a refresh token, an access token. */
const isAlive = (now: string) => `(
  exists (select from oauth_state where model = 'Session' and uid = session
    and oauth_state.account_id = sign_ins.account_id and expires_at > ${now})
  or exists (select from oauth_state where model = 'RefreshToken' and ${ofItsGrants}
    and consumed_at is null and expires_at > ${now})
  or exists (select from oauth_issued_tokens where ${ofItsGrants} and expires_at > ${now}))`;

const isOfToken = (jti: string) => `exists (select from oauth_issued_tokens where jti = ${jti} and ${ofItsGrants})`;

const selectAlive = `select ${signIns.columns}, ${isOfToken("$3")} as current from sign_ins
  where account_id = $1 and ${isAlive("$2")}`;
const listSignIns = sql("sign-in.list", `${selectAlive} and ${newestFirst(4)}`);
const findSignIn = sql("sign-in.find", `${selectAlive} and id = $4`);
const findBySession = sql("sign-in.find-by-session", "select id from sign_ins where account_id = $1 and session = $2");
const findByToken = sql(
  "sign-in.find-by-token",
  `select id, browser from sign_ins where account_id = $1 and ${isOfToken("$2")}`,
);
const listGrants = sql("sign-in.grants", `select grant_id as "grantId" from sign_in_grants where sign_in_id = $1`);
const removeGrants = sql("sign-in.remove-grants", "delete from sign_in_grants where sign_in_id = $1");
const removeSignIn = sql("sign-in.remove", "delete from sign_ins where id = $1");
const removeGrantsOfAccount = sql(
  "sign-in.remove-grants-of-account",
  "delete from sign_in_grants where account_id = $1",
);
const removeSignInsOfAccount = sql("sign-in.remove-of-account", "delete from sign_ins where account_id = $1");
const removeGrantsOfOthers = sql(
  "sign-in.remove-grants-of-others",
  `delete from sign_in_grants where account_id = $1
     and sign_in_id not in (select id from sign_ins where account_id = $1 and session = $2)`,
);
const removeOtherSignIns = sql("sign-in.remove-others", "delete from sign_ins where account_id = $1 and session <> $2");

/** Lists an account's live sign-ins, newest first. */
export async function listLiveSignIns(
  db: Queryable,
  accountId: string,
  { now, jti = null }: View,
  range: ListRange,
): Promise<readonly ListedSignIn[]> {
  return (await db.query<ListedSignIn>(listSignIns, [accountId, now, jti, ...rangeValues(range)])).rows;
}

export async function findLiveSignIn(db: Queryable, accountId: string, id: string, now: Date): Promise<SignIn | null> {
  return (await db.query<SignIn>(findSignIn, [accountId, now, null, id])).rows[0] ?? null;
}

/** Finds the id of a session's sign-in, alive or not. */
export async function findSignInBySession(db: Queryable, accountId: string, session: Buffer): Promise<string | null> {
  return (await db.query<{ id: string }>(findBySession, [accountId, session])).rows[0]?.id ?? null;
}

export async function findSignInByToken(db: Queryable, accountId: string, jti: string) {
  return (await db.query<{ id: string; browser: string | null }>(findByToken, [accountId, jti])).rows[0] ?? null;
}

export async function noteGrant(
  db: Queryable,
  { accountId, session, browser, address, at }: NotedSession,
  grant: NotedGrant,
): Promise<void> {
  const values = [randomId("sgn"), accountId, session, browser, address, at];
  await db.query(noteSignIn, [...values, grant.id, grant.expiresAt]);
}

/** Notes a use of the grant's sign-in, at most once per clock minute. */
export async function touchSignInOf(tx: Tx, grantId: string, at: Date): Promise<void> {
  const minute = new Date(at.getTime() - (at.getTime() % minutes(1)));
  await tx.query(touchSignIn, [grantId, at, minute]);
}

export async function grantsOfSignIn(tx: Tx, id: string): Promise<readonly string[]> {
  return (await tx.query<{ grantId: string }>(listGrants, [id])).rows.map(({ grantId }) => grantId);
}

/** Removes a sign-in from the list; its grants and tokens are revoked elsewhere. */
export async function deleteSignIn(tx: Tx, id: string): Promise<void> {
  await tx.query(removeGrants, [id]);
  await tx.query(removeSignIn, [id]);
}

export async function deleteSignInsOf(tx: Tx, accountId: string): Promise<void> {
  await tx.query(removeGrantsOfAccount, [accountId]);
  await tx.query(removeSignInsOfAccount, [accountId]);
}

/** Removes every sign-in of an account but that of this session from the list. */
export async function deleteOtherSignIns(tx: Tx, accountId: string, session: Buffer): Promise<void> {
  await tx.query(removeGrantsOfOthers, [accountId, session]);
  await tx.query(removeOtherSignIns, [accountId, session]);
}

/**
 * Nothing of it is valid by then: sessions and refresh tokens end two weeks after their last use, access tokens after
 * an hour.
 */
export const signInRetention: readonly RetentionRule[] = [
  { name: "sign-in retention", table: "sign_ins", column: "last_used_at", keepMs: hours(15 * 24) },
  { name: "sign-in grant retention", table: "sign_in_grants", column: "expires_at", keepMs: hours(2) },
];
