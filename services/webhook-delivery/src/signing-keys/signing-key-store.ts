import { newId } from "@signalbox/core";
import {
  advisoryLock,
  keepValues,
  type Pool,
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
const listKeys = sql(
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

export const openSigningKey =
  (sealer: Sealer) =>
  (id: string, sealed: string): string =>
    sealer.open(sealed, place(id)).toString("utf8");

/** Stores the signing keys of accounts in PostgreSQL, the private keys sealed. */
export function createSigningKeyStore(pool: Pool, sealer: Sealer) {
  return {
    /** Returns the keys that sign at this time, newest first. */
    list: async (accountId: string, at: Date): Promise<SigningKey[]> =>
      (await pool.query<SigningKey>(listKeys, [accountId, at])).rows,

    /** Lists the keys, and blocks a concurrent insert until the transaction ends. */
    async lockAllOf(tx: Tx, accountId: string, at: Date): Promise<SigningKey[]> {
      await advisoryLock(tx, `signing-keys:${accountId}`);
      return (await tx.query<SigningKey>(listKeys, [accountId, at])).rows;
    },

    /** Adds the newest key. Of the others those in `older` stay, each until its end. */
    async insert(
      tx: Tx,
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
    },
  };
}

export type SigningKeyStore = ReturnType<typeof createSigningKeyStore>;
