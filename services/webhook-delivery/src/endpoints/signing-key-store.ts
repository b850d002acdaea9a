import { newId } from "@signalbox/core";
import {
  advisoryLock,
  keepValues,
  type Queryable,
  type RotatingValue,
  type SealedColumn,
  type Sealer,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import { columns } from "../generated/columns.ts";

/** A public key of an account, which verifies `v1a` signatures. */
export interface SigningKey extends RotatingValue {
  readonly accountId: string;
  /** `whpk_` and 32 bytes in base 64. */
  readonly publicKey: string;
}

const keys = table("signing_keys", columns.signing_keys);
const shown = `id, account_id as "accountId", public_key as "publicKey", created_at as "createdAt", expires_at as "endsAt"`;
const list = sql(
  "signing-key.list",
  `select ${shown} from signing_keys
   where account_id = $1 and (expires_at is null or expires_at > $2) order by created_at desc, id desc`,
);
const keepOlder = keepValues("signing_keys", "account_id");

const place = (id: unknown) => ({ service: "webhook-delivery", table: "signing_keys", row: String(id) });

export const sealedSigningKeys: SealedColumn = {
  table: "signing_keys",
  column: "sealed",
  key: ["id"],
  place: ([id]) => place(id),
};

export const openSigningKey = (sealer: Sealer, id: string, sealed: string): string =>
  sealer.open(sealed, place(id)).toString("utf8");

/** Returns the keys that sign at this time, newest first. */
export const listSigningKeys = async (db: Queryable, accountId: string, at: Date): Promise<SigningKey[]> =>
  (await db.query<SigningKey>(list, [accountId, at])).rows;

/** Lists the keys, and blocks a concurrent insert until the transaction ends. */
export async function lockSigningKeys(tx: Tx, accountId: string, at: Date): Promise<SigningKey[]> {
  await advisoryLock(tx, `signing-keys:${accountId}`);
  return listSigningKeys(tx, accountId, at);
}

/** Adds the newest key, the private one sealed. Of the others those in `older` stay, each until its end. */
export async function insertSigningKey(
  tx: Tx,
  sealer: Sealer,
  accountId: string,
  { privateKey, publicKey }: { readonly privateKey: string; readonly publicKey: string },
  at: Date,
  older: readonly SigningKey[] = [],
): Promise<SigningKey> {
  const id = newId("whp", at.getTime());
  await keepOlder(tx, accountId, older);
  const key = { id, accountId, publicKey, createdAt: at };
  await keys.insert(tx, { ...key, expiresAt: null, sealed: sealer.seal(privateKey, place(id)) });
  return { ...key, endsAt: null };
}
