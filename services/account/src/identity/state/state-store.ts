import { createHash } from "node:crypto";
import { minutes } from "@signalbox/core";
import {
  type RetentionRule,
  SealError,
  type SealedColumn,
  type SealedPlace,
  type Sealer,
  sql,
  type Tx,
} from "@signalbox/storage";
import type { AccountService } from "../../context/account-service.ts";

/** A record of the provider: a session, grant, code, refresh token, or pending sign-in. */
type StatePayload = Readonly<Record<string, unknown>>;

interface Row {
  readonly model: string;
  readonly id: Buffer;
  readonly sealed: string;
  readonly consumedAt: Date | null;
}

const columns = `model, id, sealed, consumed_at as "consumedAt"`;
const findState = sql("oauth-state.find", `select ${columns} from oauth_state where model = $1 and id = $2`);
const findByUid = sql("oauth-state.find-by-uid", `select ${columns} from oauth_state where model = $1 and uid = $2`);

const saveState = sql(
  "oauth-state.save",
  `insert into oauth_state (model, id, sealed, grant_id, uid, account_id, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7)
   on conflict (model, id) do update set sealed = excluded.sealed, grant_id = excluded.grant_id, uid = excluded.uid,
     account_id = excluded.account_id, expires_at = excluded.expires_at`,
);

const consumeState = sql(
  "oauth-state.consume",
  "update oauth_state set consumed_at = $3 where model = $1 and id = $2 and consumed_at is null",
);

const removeState = sql("oauth-state.remove", "delete from oauth_state where model = $1 and id = $2");
const lockGrant = sql(
  "oauth-state.lock-grant",
  "select 1 from oauth_state where model = 'Grant' and id = $1 for key share",
);
const removeOfGrant = sql("oauth-state.remove-of-grant", "delete from oauth_state where grant_id = $1");
const removeSession = sql("oauth-state.remove-session", "delete from oauth_state where model = 'Session' and uid = $1");
const removeOfAccount = sql("oauth-state.remove-of-account", "delete from oauth_state where account_id = $1");
const removeOthers = sql(
  "oauth-state.remove-others",
  `delete from oauth_state where account_id = $1 and not (model = 'Session' and uid = $2)
     and not (model = 'Grant' and id = any($3)) and coalesce(grant_id <> all($4), true)`,
);

// The records of the provider, in PostgreSQL. The id of most is itself the secret (a refresh token, a code, a session
// cookie), so it is stored as a digest, and the content, which repeats it, is sealed.

export async function readState(
  { pool, sealer }: AccountService,
  model: string,
  id: string,
): Promise<StatePayload | undefined> {
  const { rows } = await pool.query<Row>(findState, [model, stateDigest(id)]);
  return rows[0] && payloadFrom(rows[0], sealer);
}

/** Finds a session by its `uid`, or a device's request by the code that its user types. */
export async function readStateByUid(
  { pool, sealer }: AccountService,
  model: string,
  uid: string,
): Promise<StatePayload | undefined> {
  const { rows } = await pool.query<Row>(findByUid, [model, stateDigest(uid)]);
  return rows[0] && payloadFrom(rows[0], sealer);
}

export async function writeState(
  { sealer, pool }: AccountService,
  model: string,
  id: string,
  payload: StatePayload,
  expiresAt: Date,
): Promise<void> {
  const digest = stateDigest(id);
  const sealed = sealer.seal(JSON.stringify(payload), placeOf(model, digest));
  const uid = textOf(payload.uid) ?? textOf(payload.userCode);
  const values = [textOf(payload.grantId), uid === null ? null : stateDigest(uid), textOf(payload.accountId)];
  await pool.query(saveState, [model, digest, sealed, ...values, expiresAt]);
}

/** Marks a record as used. Returns false when it was already used, or is missing. */
export async function markStateUsed({ pool }: AccountService, model: string, id: string, at: Date): Promise<boolean> {
  return (await pool.query(consumeState, [model, stateDigest(id), at])).rowCount === 1;
}

export async function deleteState({ pool }: AccountService, model: string, id: string): Promise<void> {
  await pool.query(removeState, [model, stateDigest(id)]);
}

/** Locks a grant until the transaction ends. Returns false when it has ended. */
export async function lockLiveGrant(tx: Tx, grantId: string): Promise<boolean> {
  return (await tx.query(lockGrant, [stateDigest(grantId)])).rowCount === 1;
}

/** Removes a grant and everything issued under it. */
export async function deleteGrant(tx: Tx, grantId: string): Promise<void> {
  await tx.query(removeState, ["Grant", stateDigest(grantId)]);
  await tx.query(removeOfGrant, [grantId]);
}

/** Removes the session whose `uid` has this digest. */
export async function deleteSession(tx: Tx, uid: Buffer): Promise<void> {
  await tx.query(removeSession, [uid]);
}

/** Removes the records with which the people of an account continue without signing in: sessions, grants, codes, refresh tokens. */
export async function deleteStateOf(tx: Tx, accountId: string): Promise<void> {
  await tx.query(removeOfAccount, [accountId]);
}

/** Removes the same of every session but this one; `session` is the digest of its `uid`. */
export async function deleteOtherState(
  tx: Tx,
  accountId: string,
  session: Buffer,
  grants: readonly string[],
): Promise<void> {
  await tx.query(removeOthers, [accountId, session, grants.map(stateDigest), grants]);
}

/** A record whose sealing key is gone is lost: its person signs in again. */
function payloadFrom({ model, id, sealed, consumedAt }: Row, sealer: Sealer): StatePayload | undefined {
  const text = openIfPossible(sealed, placeOf(model, id), sealer);
  if (text === null) return undefined;
  const payload = JSON.parse(text) as StatePayload;
  return consumedAt === null ? payload : { ...payload, consumed: consumedAt.getTime() / 1000 };
}

function openIfPossible(sealed: string, place: SealedPlace, sealer: Sealer): string | null {
  try {
    return sealer.open(sealed, place).toString();
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}

/** The digest under which a record is stored: of its id, or of a session's `uid`. */
export const stateDigest = (id: string): Buffer => createHash("sha256").update(id).digest();

const placeOf = (model: string, digest: Buffer): SealedPlace => ({
  service: "account",
  table: "oauth_state",
  row: `${model}/${digest.toString("base64url")}`,
});

export const sealedState: SealedColumn = {
  table: "oauth_state",
  column: "sealed",
  key: ["model", "id"],
  place: ([model, id]) => placeOf(String(model), id as Buffer),
};

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** Clocks differ: a record that has just ended here may still be looked up elsewhere. */
export const stateRetention: RetentionRule = {
  name: "issuer state retention",
  table: "oauth_state",
  column: "expires_at",
  keepMs: minutes(5),
};
