import { createHash } from "node:crypto";
import { type Pool, SealError, type SealedPlace, type Sealer, sql, type Tx } from "@signalbox/storage";

/** What the provider wants to find again. */
export type StatePayload = Readonly<Record<string, unknown>>;

export interface OauthStateStore {
  find(model: string, id: string): Promise<StatePayload | undefined>;
  findByUid(model: string, uid: string): Promise<StatePayload | undefined>;
  save(model: string, id: string, payload: StatePayload, expiresAt: Date): Promise<void>;
  /** Marks it as used; false when it was used already, or is not there. */
  consume(model: string, id: string, at: Date): Promise<boolean>;
  remove(model: string, id: string): Promise<void>;
  /** Removes a grant with all that came of it. */
  removeGrant(tx: Tx, grantId: string): Promise<void>;
  /** Whether the grant is there, and keeps others from ending it until the transaction ends. */
  holdGrant(tx: Tx, grantId: string): Promise<boolean>;
  /** Removes up to `limit` things that ended before `at`; how many there were. */
  trim(at: Date, limit: number): Promise<number>;
}

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
const holdGrant = sql(
  "oauth-state.hold-grant",
  "select 1 from oauth_state where model = 'Grant' and id = $1 for key share",
);
const removeOfGrant = sql("oauth-state.remove-of-grant", "delete from oauth_state where grant_id = $1");

const trimState = sql(
  "oauth-state.trim",
  `delete from oauth_state where (model, id) in (
     select model, id from oauth_state where expires_at <= $1 limit $2 for update skip locked)`,
);

/**
 * What the provider remembers, in PostgreSQL. An id is for most models the secret itself (a refresh token, a code, the
 * cookie of a session), so it is kept as its digest, and the content, which repeats it, sealed.
 */
export function createOauthStateStore({ pool, sealer }: { readonly pool: Pool; readonly sealer: Sealer }) {
  const store: OauthStateStore = {
    async find(model, id) {
      const { rows } = await pool.query<Row>(findState, [model, digestOf(id)]);
      return rows[0] && payloadFrom(rows[0]);
    },
    async findByUid(model, uid) {
      const { rows } = await pool.query<Row>(findByUid, [model, digestOf(uid)]);
      return rows[0] && payloadFrom(rows[0]);
    },
    async save(model, id, payload, expiresAt) {
      const digest = digestOf(id);
      const sealed = sealer.seal(JSON.stringify(payload), placeOf(model, digest));
      const uid = textOf(payload.uid);
      const values = [textOf(payload.grantId), uid === null ? null : digestOf(uid), textOf(payload.accountId)];
      await pool.query(saveState, [model, digest, sealed, ...values, expiresAt]);
    },
    async consume(model, id, at) {
      return (await pool.query(consumeState, [model, digestOf(id), at])).rowCount === 1;
    },
    async remove(model, id) {
      await pool.query(removeState, [model, digestOf(id)]);
    },
    async removeGrant(tx, grantId) {
      await tx.query(removeState, ["Grant", digestOf(grantId)]);
      await tx.query(removeOfGrant, [grantId]);
    },
    async holdGrant(tx, grantId) {
      return (await tx.query(holdGrant, [digestOf(grantId)])).rowCount === 1;
    },
    async trim(at, limit) {
      return (await pool.query(trimState, [at, limit])).rowCount;
    },
  };
  return store;

  /** What was sealed with a key that is gone is gone too: somebody signs in again. */
  function payloadFrom({ model, id, sealed, consumedAt }: Row): StatePayload | undefined {
    const text = openIfPossible(sealed, placeOf(model, id));
    if (text === null) return undefined;
    const payload = JSON.parse(text) as StatePayload;
    return consumedAt === null ? payload : { ...payload, consumed: Math.floor(consumedAt.getTime() / 1000) };
  }

  function openIfPossible(sealed: string, place: SealedPlace): string | null {
    try {
      return sealer.open(sealed, place).toString();
    } catch (error) {
      if (error instanceof SealError) return null;
      throw error;
    }
  }
}

const digestOf = (id: string): Buffer => createHash("sha256").update(id).digest();

const placeOf = (model: string, digest: Buffer): SealedPlace => ({
  service: "account",
  table: "oauth_state",
  row: `${model}/${digest.toString("base64url")}`,
});

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
