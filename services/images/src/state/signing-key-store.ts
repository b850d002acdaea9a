import { randomBytes } from "node:crypto";
import { type Clock, randomId, seconds } from "@signalbox/core";
import {
  Copies,
  inTransaction,
  isLive,
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
import type { LiveKey } from "./signature.ts";

type Row = Pick<LiveKey, "id" | "accountId" | "createdAt"> & {
  readonly sealedSecret: string;
  readonly expiresAt: Date | null;
};

const keys = table("signing_keys", columns.signing_keys);
const select = `select ${keys.columns} from signing_keys`;
const newest = "order by created_at desc, id desc";
const statements = {
  find: sql("signing-key.find", `${select} where id = $1`),
  list: sql("signing-key.list", `${select} where account_id = $1 ${newest}`),
  // Two concurrent first signatures must not both create a key: the second waits and finds that of the first.
  lockAccount: sql("signing-key.lock", "select pg_advisory_xact_lock(hashtextextended('signing-key ' || $1, 0))"),
  removeOf: sql("signing-key.remove-of", "delete from signing_keys where account_id = $1"),
};
const keepOlder = keepValues("signing_keys", "account_id");

const place = (id: unknown) => ({ service: "images", table: "signing_keys", row: String(id) });

/** The sealed column of key secrets. */
export const sealedSigningKeys: SealedColumn = {
  table: "signing_keys",
  column: "sealed_secret",
  key: ["id"],
  place: ([id]) => place(id),
};

/** A removed key verifies no longer than any other revocation takes. */
const copies = { max: 10_000, ttlMs: seconds(1) };

/** The sealed keys that sign the URLs of accounts, and copies of those that were used a moment ago. */
export class SigningKeyStore {
  readonly #pool: Pool;
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #byId: Copies<LiveKey | null>;
  readonly #ofAccounts: Copies<LiveKey>;

  constructor(pool: Pool, sealer: Sealer, clock: Clock) {
    this.#pool = pool;
    this.#sealer = sealer;
    this.#clock = clock;
    this.#byId = new Copies((keyId) => this.#read(keyId), copies);
    this.#ofAccounts = new Copies((accountId) => this.#newestOf(accountId), copies);
  }

  /** Finds a live key. */
  async find(keyId: string): Promise<LiveKey | null> {
    const key = await this.#byId.find(keyId);
    return key && isLive(key, this.#clock.now()) ? key : null;
  }

  /** Returns true while `find` would return this very key. */
  isCurrent(key: LiveKey): boolean {
    return this.#byId.holds(key.id, key) && isLive(key, this.#clock.now());
  }

  /** Returns the signing key of an account and creates the first one on demand. */
  forSigning(accountId: string): Promise<LiveKey> {
    return this.#ofAccounts.find(accountId);
  }

  /** Lists the keys of an account, newest first, and locks them. */
  async lock(tx: Tx, accountId: string): Promise<LiveKey[]> {
    await tx.query(statements.lockAccount, [accountId]);
    return (await tx.query<Row>(statements.list, [accountId])).rows.map((row) => this.#open(row));
  }

  /** Replaces the locked keys of an account by a new one, and by the older ones that stay for a while. */
  async replace(tx: Tx, accountId: string, locked: readonly LiveKey[], older: readonly LiveKey[]): Promise<LiveKey> {
    const key = this.#newKey(accountId, locked[0]);
    await keepOlder(tx, accountId, older);
    await this.#insert(tx, key);
    this.#ofAccounts.forgetAfter(tx, [accountId]);
    const ids = locked.map(({ id }) => id);
    this.#byId.forgetAfter(tx, ids);
    return key;
  }

  async removeOf(tx: Tx, accountId: string): Promise<void> {
    await tx.query(statements.removeOf, [accountId]);
  }

  async #read(keyId: string): Promise<LiveKey | null> {
    const { rows } = await this.#pool.query<Row>(statements.find, [keyId]);
    return rows[0] ? this.#open(rows[0]) : null;
  }

  async #newestOf(accountId: string): Promise<LiveKey> {
    const [row] = (await this.#pool.query<Row>(statements.list, [accountId])).rows;
    return row ? this.#open(row) : this.#createFirst(accountId);
  }

  /** Creates the first key of an account, unless another request was faster. */
  #createFirst(accountId: string): Promise<LiveKey> {
    return inTransaction(this.#pool, async (tx) => {
      const [made] = await this.lock(tx, accountId);
      if (made) return made;
      const key = this.#newKey(accountId, undefined);
      await this.#insert(tx, key);
      return key;
    });
  }

  /** Creation time is forced to be after the previous key's, even if clocks differ. */
  #newKey(accountId: string, former: RotatingValue | undefined): LiveKey {
    const createdAt = new Date(Math.max(this.#clock.nowMs(), (former?.createdAt.getTime() ?? 0) + 1));
    return { id: randomId("key"), accountId, secret: randomBytes(32), createdAt, endsAt: null };
  }

  async #insert(tx: Tx, { secret, endsAt: expiresAt, ...key }: LiveKey): Promise<void> {
    await keys.insert(tx, { ...key, expiresAt, sealedSecret: this.#sealer.seal(secret, place(key.id)) });
  }

  #open({ sealedSecret, expiresAt: endsAt, ...row }: Row): LiveKey {
    return { ...row, endsAt, secret: this.#sealer.open(sealedSecret, place(row.id)) };
  }
}
