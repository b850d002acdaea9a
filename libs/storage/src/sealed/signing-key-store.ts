import { randomBytes } from "node:crypto";
import { type Clock, randomId, seconds } from "@signalbox/core";
import { Copies } from "../cache/copies.ts";
import type { Pool } from "../database/pool.ts";
import { type Queryable, sql } from "../database/prepared-statement.ts";
import { isLive, keepValues, type RotatingValue } from "../database/rotation.ts";
import { table } from "../database/table.ts";
import { inTransaction, type Tx } from "../database/transaction.ts";
import type { SealedColumn } from "./resealing.ts";
import type { Sealer } from "./sealer.ts";

type SigningKeyKind = "service" | "owner";

/** A key of an account that signs and verifies, or only verifies after it was replaced, until its end. */
export interface SigningKey extends RotatingValue {
  readonly accountId: string;
  /** The holder of the secret: this service alone, or also the account's owner. */
  readonly kind: SigningKeyKind;
  /** 32 random bytes. */
  readonly secret: Buffer;
}

type Row = Pick<SigningKey, "id" | "accountId" | "kind" | "createdAt"> & {
  readonly sealedSecret: string;
  readonly expiresAt: Date | null;
};

const keys = table("signing_keys", {
  id: "text",
  accountId: "text",
  kind: "text",
  sealedSecret: "text",
  createdAt: "timestamptz",
  expiresAt: "timestamptz",
});
const select = `select ${keys.columns} from signing_keys`;
const statements = {
  find: sql("signing-key.find", `${select} where id = $1`),
  list: sql(
    "signing-key.list",
    `${select} where account_id = $1 and (expires_at is null or expires_at > $2) order by created_at desc, id desc`,
  ),
  // Two concurrent first signatures must not both create a key: the second waits and finds that of the first.
  lockAccount: sql("signing-key.lock", "select pg_advisory_xact_lock(hashtextextended('signing-key ' || $1, 0))"),
  removeOf: sql("signing-key.remove-of", "delete from signing_keys where account_id = $1"),
};
const keepKeys = keepValues("signing_keys", "account_id");

const placeIn = (service: string) => (id: unknown) => ({ service, table: "signing_keys", row: String(id) });

/** The sealed column of key secrets, in the database of a service. */
export const sealedSigningKeys = (service: string): SealedColumn => ({
  table: "signing_keys",
  column: "sealed_secret",
  key: ["id"],
  place: ([id]) => placeIn(service)(id),
});

/** Returns true for a key whose secret never leaves the service. */
export const isOfService = ({ kind }: SigningKey): boolean => kind === "service";

/** A removed key verifies no longer than any other revocation takes. */
const copies = { max: 10_000, ttlMs: seconds(1) };

/**
 * The sealed keys that sign for accounts, in the table `signing_keys` of a service, and copies of those that were used a
 * moment ago.
 */
export class SigningKeyStore {
  readonly #pool: Pool;
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #place: ReturnType<typeof placeIn>;
  readonly #byId: Copies<SigningKey | null>;
  readonly #ofAccounts: Copies<SigningKey>;

  constructor(service: string, pool: Pool, sealer: Sealer, clock: Clock) {
    this.#place = placeIn(service);
    this.#pool = pool;
    this.#sealer = sealer;
    this.#clock = clock;
    this.#byId = new Copies((keyId) => this.#read(keyId), copies);
    this.#ofAccounts = new Copies((accountId) => this.#signingOf(accountId), copies);
  }

  /** Finds a live key. */
  async find(keyId: string): Promise<SigningKey | null> {
    const key = await this.#byId.find(keyId);
    return key && isLive(key, this.#clock.now()) ? key : null;
  }

  /** Returns true while `find` would return this very key. */
  isCurrent(key: SigningKey): boolean {
    return this.#byId.holds(key.id, key) && isLive(key, this.#clock.now());
  }

  /** Returns the signing key of an account and creates the first one on demand. */
  forSigning(accountId: string): Promise<SigningKey> {
    return this.#ofAccounts.find(accountId);
  }

  /** Lists the live keys of an account, newest first. */
  list(accountId: string): Promise<SigningKey[]> {
    return this.#liveOf(this.#pool, accountId);
  }

  /** Lists the same keys, and locks them. */
  async lock(tx: Tx, accountId: string): Promise<SigningKey[]> {
    await tx.query(statements.lockAccount, [accountId]);
    return this.#liveOf(tx, accountId);
  }

  /** Adds a key to the locked ones of an account. */
  async add(tx: Tx, accountId: string, kind: SigningKeyKind, locked: readonly SigningKey[]): Promise<SigningKey> {
    // Creation time is forced to be after the previous key's, even if clocks differ.
    const createdAt = new Date(Math.max(this.#clock.nowMs(), (locked[0]?.createdAt.getTime() ?? 0) + 1));
    const key = { id: randomId("key"), accountId, kind, secret: randomBytes(32), createdAt, endsAt: null };
    const { secret, endsAt: expiresAt, ...row } = key;
    await keys.insert(tx, { ...row, expiresAt, sealedSecret: this.#sealer.seal(secret, this.#place(key.id)) });
    return key;
  }

  /** Keeps some of the locked keys of an account, each until its end. The others verify nothing any more. */
  async keep(tx: Tx, accountId: string, locked: readonly SigningKey[], kept: readonly SigningKey[]): Promise<void> {
    await keepKeys(tx, accountId, kept);
    this.#ofAccounts.forgetAfter(tx, [accountId]);
    const ids = locked.map(({ id }) => id);
    this.#byId.forgetAfter(tx, ids);
  }

  async removeOf(tx: Tx, accountId: string): Promise<void> {
    await tx.query(statements.removeOf, [accountId]);
  }

  async #read(keyId: string): Promise<SigningKey | null> {
    const { rows } = await this.#pool.query<Row>(statements.find, [keyId]);
    return rows[0] ? this.#open(rows[0]) : null;
  }

  async #liveOf(db: Queryable, accountId: string): Promise<SigningKey[]> {
    const { rows } = await db.query<Row>(statements.list, [accountId, this.#clock.now()]);
    return rows.map((row) => this.#open(row));
  }

  async #signingOf(accountId: string): Promise<SigningKey> {
    return (await this.list(accountId)).find(isOfService) ?? this.#createFirst(accountId);
  }

  /** Creates the first key of an account, unless another request was faster. */
  #createFirst(accountId: string): Promise<SigningKey> {
    return inTransaction(this.#pool, async (tx) => {
      const locked = await this.lock(tx, accountId);
      return locked.find(isOfService) ?? this.add(tx, accountId, "service", locked);
    });
  }

  #open({ sealedSecret, expiresAt: endsAt, ...row }: Row): SigningKey {
    return { ...row, endsAt, secret: this.#sealer.open(sealedSecret, this.#place(row.id)) };
  }
}
