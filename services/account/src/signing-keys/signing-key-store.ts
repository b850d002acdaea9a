import { type Queryable, type SealedColumn, type SealedPlace, type Sealer, sql, type Tx } from "@signalbox/storage";
import { type PrivateJwk, publicJwkOf, type SigningKey } from "./signing-key.ts";

export interface SigningKeyStore {
  /** Keeps other instances from creating keys until the transaction ends. */
  lock(tx: Tx): Promise<void>;
  /** @throws SealError when the sealing key of one of them is gone. */
  list(db: Queryable): Promise<readonly SigningKey[]>;
  insert(tx: Tx, key: SigningKey): Promise<void>;
  /** Sets the time at which keys without a successor stop signing. */
  retire(tx: Tx, at: Date): Promise<void>;
  remove(tx: Tx, key: SigningKey): Promise<void>;
}

interface Row {
  readonly kid: string;
  readonly sealedPrivateJwk: string;
  readonly createdAt: Date;
  readonly activeFrom: Date;
  readonly retiredAt: Date | null;
}

/** Arbitrary, but different from every other advisory lock of this database. */
const lockNumber = 4_202_001;

const lockKeys = sql("oauth-key.lock", "select pg_advisory_xact_lock($1)");

const listKeys = sql(
  "oauth-key.list",
  `select kid, sealed_private_jwk as "sealedPrivateJwk", created_at as "createdAt", active_from as "activeFrom",
     retired_at as "retiredAt"
   from oauth_signing_keys`,
);

const insertKey = sql(
  "oauth-key.insert",
  `insert into oauth_signing_keys (kid, algorithm, public_jwk, sealed_private_jwk, created_at, active_from)
   values ($1, $2, $3, $4, $5, $6)`,
);

const retireKeys = sql("oauth-key.retire", "update oauth_signing_keys set retired_at = $1 where retired_at is null");
const removeKey = sql("oauth-key.remove", "delete from oauth_signing_keys where kid = $1");

const placeOf = (row: string): SealedPlace => ({ service: "account", table: "oauth_signing_keys", row });

/** The private halves of the keys. */
export const sealedSigningKeys: SealedColumn = {
  table: "oauth_signing_keys",
  column: "sealed_private_jwk",
  key: ["kid"],
  place: ([kid]) => placeOf(String(kid)),
};

/** Signing keys in PostgreSQL, their private halves sealed. */
export function createSigningKeyStore(sealer: Sealer): SigningKeyStore {
  return {
    async lock(tx) {
      await tx.query(lockKeys, [lockNumber]);
    },
    async list(db) {
      const { rows } = await db.query<Row>(listKeys);
      return rows.map(({ kid, sealedPrivateJwk, ...times }) => {
        const privateJwk = JSON.parse(sealer.open(sealedPrivateJwk, placeOf(kid)).toString()) as PrivateJwk;
        return { privateJwk, ...times };
      });
    },
    async insert(tx, key) {
      const { kid, alg } = key.privateJwk;
      const sealed = sealer.seal(JSON.stringify(key.privateJwk), placeOf(kid));
      await tx.query(insertKey, [kid, alg, JSON.stringify(publicJwkOf(key)), sealed, key.createdAt, key.activeFrom]);
    },
    async retire(tx, at) {
      await tx.query(retireKeys, [at]);
    },
    async remove(tx, { privateJwk }) {
      await tx.query(removeKey, [privateJwk.kid]);
    },
  };
}
