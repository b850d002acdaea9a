import {
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
import type { SigningKey } from "./signature.ts";

/** A key that signs and verifies, or only verifies after it was replaced, until its end. */
export interface LiveKey extends SigningKey, RotatingValue {}

interface Row {
  readonly id: string;
  readonly accountId: string;
  readonly sealedSecret: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

const keys = table("signing_keys", columns.signing_keys);
const select = `select ${keys.columns} from signing_keys`;
const newest = "order by created_at desc, id desc";
const findKey = sql("signing-key.find", `${select} where id = $1`);
const listKeys = sql("signing-key.list", `${select} where account_id = $1 ${newest}`);
// Two concurrent first signatures must not both create a key: the second waits and finds that of the first.
const lockAccount = sql("signing-key.lock", "select pg_advisory_xact_lock(hashtextextended('signing-key ' || $1, 0))");
const keepOlder = keepValues("signing_keys", "account_id");
const removeOf = sql("signing-key.remove-of", "delete from signing_keys where account_id = $1");

const place = (id: unknown) => ({ service: "images", table: "signing_keys", row: String(id) });

/** The sealed column of key secrets. */
export const sealedSigningKeys: SealedColumn = {
  table: "signing_keys",
  column: "sealed_secret",
  key: ["id"],
  place: ([id]) => place(id),
};

export type SigningKeyStore = ReturnType<typeof createSigningKeyStore>;

/** The sealed signing keys of accounts. */
export function createSigningKeyStore(pool: Pool, sealer: Sealer) {
  const keyFrom = ({ sealedSecret, expiresAt: endsAt, ...row }: Row): LiveKey => ({
    ...row,
    endsAt,
    secret: sealer.open(sealedSecret, place(row.id)),
  });
  return {
    async find(keyId: string): Promise<LiveKey | null> {
      const { rows } = await pool.query<Row>(findKey, [keyId]);
      return rows[0] ? keyFrom(rows[0]) : null;
    },

    /** Lists the keys of an account, newest first. */
    list: async (accountId: string): Promise<LiveKey[]> =>
      (await pool.query<Row>(listKeys, [accountId])).rows.map(keyFrom),

    /** Lists the keys of an account and locks them. */
    async lock(tx: Tx, accountId: string): Promise<LiveKey[]> {
      await tx.query(lockAccount, [accountId]);
      return (await tx.query<Row>(listKeys, [accountId])).rows.map(keyFrom);
    },

    insert: (tx: Tx, { secret, endsAt: expiresAt, ...key }: LiveKey) =>
      keys.insert(tx, { ...key, expiresAt, sealedSecret: sealer.seal(secret, place(key.id)) }),

    keepOlder,

    removeOf: async (tx: Tx, accountId: string): Promise<void> => void (await tx.query(removeOf, [accountId])),
  };
}
