import {
  type Queryable,
  type SealedColumn,
  type SealedPlace,
  type Sealer,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import { columns } from "../../generated/columns.ts";
import { type PrivateJwk, publicJwkOf, type SigningAlgorithm, type SigningKey } from "./signing-key.ts";

interface Row extends Omit<SigningKey, "privateJwk"> {
  readonly kid: string;
  readonly sealedPrivateJwk: string;
}

/** Arbitrary, but different from every other advisory lock of this database. */
const lockNumber = 4_202_001;

const lockKeys = sql("oauth-key.lock", "select pg_advisory_xact_lock($1)");

const keys = table("oauth_signing_keys", columns.oauth_signing_keys);
const listKeys = sql("oauth-key.list", `select ${keys.columns} from oauth_signing_keys`);
const retireKeys = sql(
  "oauth-key.retire",
  "update oauth_signing_keys set retired_at = $2 where algorithm = $1 and retired_at is null",
);
const removeKey = sql("oauth-key.remove", "delete from oauth_signing_keys where kid = $1");

const placeOf = (row: string): SealedPlace => ({ service: "account", table: "oauth_signing_keys", row });

export const sealedSigningKeys: SealedColumn = {
  table: "oauth_signing_keys",
  column: "sealed_private_jwk",
  key: ["kid"],
  place: ([kid]) => placeOf(String(kid)),
};

/** Keeps other instances from creating keys until the transaction ends. */
export async function lockSigningKeys(tx: Tx): Promise<void> {
  await tx.query(lockKeys, [lockNumber]);
}

/**
 * Lists the signing keys, whose private halves are sealed.
 *
 * @throws SealError when the sealing key of one of them is gone.
 */
export async function listSigningKeys(db: Queryable, sealer: Sealer): Promise<readonly SigningKey[]> {
  const { rows } = await db.query<Row>(listKeys);
  return rows.map(({ kid, sealedPrivateJwk, createdAt, activeFrom, retiredAt }) => {
    const privateJwk = JSON.parse(sealer.open(sealedPrivateJwk, placeOf(kid)).toString()) as PrivateJwk;
    return { privateJwk, createdAt, activeFrom, retiredAt };
  });
}

export async function insertSigningKey(tx: Tx, sealer: Sealer, key: SigningKey): Promise<void> {
  const { privateJwk, ...times } = key;
  const { kid, alg: algorithm } = privateJwk;
  const sealedPrivateJwk = sealer.seal(JSON.stringify(privateJwk), placeOf(kid));
  await keys.insert(tx, { kid, algorithm, publicJwk: publicJwkOf(key), sealedPrivateJwk, ...times });
}

/** Sets the time at which the keys of an algorithm without a successor stop signing. */
export async function retireSigningKeys(tx: Tx, algorithm: SigningAlgorithm, at: Date): Promise<void> {
  await tx.query(retireKeys, [algorithm, at]);
}

export async function removeSigningKey(tx: Tx, { privateJwk }: SigningKey): Promise<void> {
  await tx.query(removeKey, [privateJwk.kid]);
}
