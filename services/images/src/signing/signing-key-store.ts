import { type Pool, type SealedColumn, type Sealer, sql, type Tx, table } from "@signalbox/storage";
import type { SigningKey } from "./signature.ts";

/** A key that signs and verifies, or only verifies after it was replaced. */
export interface LiveKey extends SigningKey {
  readonly createdAt: Date;
}

interface Row {
  readonly id: string;
  readonly accountId: string;
  readonly sealedSecret: string;
  readonly createdAt: Date;
}

const keys = table("signing_keys", {
  id: "text",
  accountId: "text",
  sealedSecret: "text",
  createdAt: "timestamptz",
});
const select = `select ${keys.columns} from signing_keys`;
const newest = "order by created_at desc, id desc";
const findKey = sql("signing-key.find", `${select} where id = $1`);
const listKeys = sql("signing-key.list", `${select} where account_id = $1 ${newest}`);
// Two concurrent first signatures must not both create a key: the second waits and finds that of the first.
const lockAccount = sql("signing-key.lock", "select pg_advisory_xact_lock(hashtextextended('signing-key ' || $1, 0))");
const removeKeys = sql("signing-key.remove-many", "delete from signing_keys where id = any($1)");
const removeOf = sql("signing-key.remove-of", "delete from signing_keys where account_id = $1");

const place = (id: unknown) => ({ service: "images", table: "signing_keys", row: String(id) });

/** The sealed column of key secrets. */
export const sealedSigningKeys: SealedColumn = {
  ...{ table: "signing_keys", column: "sealed_secret", key: ["id"] },
  place: ([id]) => place(id),
};

export type SigningKeyStore = ReturnType<typeof createSigningKeyStore>;

/** The sealed signing keys of accounts. */
export function createSigningKeyStore(pool: Pool, sealer: Sealer) {
  const keyFrom = ({ sealedSecret, ...row }: Row): LiveKey => ({
    ...row,
    secret: sealer.open(sealedSecret, place(row.id)),
  });
  return {
    async find(keyId: string): Promise<LiveKey | null> {
      const { rows } = await pool.query<Row>(findKey, [keyId]);
      return rows[0] ? keyFrom(rows[0]) : null;
    },

    /** Lists the live keys of an account, newest first. */
    list: async (accountId: string): Promise<LiveKey[]> =>
      (await pool.query<Row>(listKeys, [accountId])).rows.map(keyFrom),

    /** Lists the live keys of an account and locks them. */
    async lock(tx: Tx, accountId: string): Promise<LiveKey[]> {
      await tx.query(lockAccount, [accountId]);
      return (await tx.query<Row>(listKeys, [accountId])).rows.map(keyFrom);
    },

    insert: (tx: Tx, { secret, ...key }: LiveKey) =>
      keys.insert(tx, { ...key, sealedSecret: sealer.seal(secret, place(key.id)) }),

    removeMany: async (tx: Tx, keyIds: readonly string[]): Promise<void> => void (await tx.query(removeKeys, [keyIds])),

    removeOf: async (tx: Tx, accountId: string): Promise<void> => void (await tx.query(removeOf, [accountId])),
  };
}
