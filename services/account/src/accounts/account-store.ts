import { setImmediate as endOfTurn } from "node:timers/promises";
import { type AccountState, isRole, isScope, type TransitionActor } from "@signalbox/contracts";
import { advisoryLock, type Pool, sql, type Tx, table } from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import type { Account } from "./account.ts";
import { canonicalAddress } from "./account-fields.ts";

/** A login: our name for its issuer, and its subject there. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** An account that was read without a lock. */
interface ReadAccount extends Account {
  /** Changes with every change of the row; a write without a lock succeeds only while it is the same. */
  readonly version: string;
}

/** An account as its row stores it. */
type AccountRow = Omit<Account, "status" | "roles" | "scopesMax" | "statusActor" | "metadata"> & {
  status: string;
  roles: string[];
  scopesMax: string[];
  metadata: unknown;
  statusActor: string | null;
};

const accounts = table("accounts", columns.accounts);

/** PostgreSQL gives a row a new `xmin` with every change. */
const readAccounts = sql(
  "account.read",
  `select ${accounts.columns}, xmin::text as version from accounts where id = any ($1)`,
);

const findByIdentity = sql(
  "account.find-by-identity",
  `select ${accounts.columns} from accounts
   where id = (select account_id from identities where issuer = $1 and subject = $2)`,
);

const lockAccount = sql("account.lock", `select ${accounts.columns} from accounts where id = $1 for update`);

/** Written when the account is created; the start of its purge is written by a statement of its own. */
const kept: ReadonlySet<string> = new Set(["id", "createdAt", "purgeBegunAt"]);
const names = Object.keys(columns.accounts) as (keyof typeof columns.accounts)[];
const saveAccount = accounts.update(...names.filter((name) => !kept.has(name)));

const findByExternalId = sql("account.find-by-external-id", "select id from accounts where external_id = $1");

const insertIdentity = sql(
  "identity.insert",
  `insert into identities (issuer, subject, account_id, created_at) values ($1, $2, $3, $4) on conflict do nothing`,
);

/** Accounts in PostgreSQL. Reads of single ones are batched. */
export class AccountStore {
  readonly #pool: Pool;
  /** Finds an account, without a lock. */
  readonly find: (accountId: string) => Promise<ReadAccount | null>;

  constructor(pool: Pool) {
    this.#pool = pool;
    this.find = readTogether((accountIds) => this.findMany(accountIds));
  }

  async findMany(accountIds: readonly string[]): Promise<ReadAccount[]> {
    const { rows } = await this.#pool.query<AccountRow & { version: string }>(readAccounts, [accountIds]);
    return rows.map((row) => ({ ...accountFrom(row), version: row.version }));
  }

  async findByIdentity({ issuer, subject }: Identity): Promise<Account | null> {
    const { rows } = await this.#pool.query<AccountRow>(findByIdentity, [issuer, subject]);
    return rows[0] ? accountFrom(rows[0]) : null;
  }

  /** Reads the account and locks its row until the transaction ends. */
  async lock(tx: Tx, accountId: string): Promise<Account | null> {
    const { rows } = await tx.query<AccountRow>(lockAccount, [accountId]);
    return rows[0] ? accountFrom(rows[0]) : null;
  }

  /** Writes every field of an account except the start of its purge. */
  async save(tx: Tx, account: Account): Promise<void> {
    await saveAccount(tx, rowFrom(account));
  }

  /**
   * Inserts the account of a new identity. Returns false when the identity already has one; the transaction must then
   * not commit.
   */
  async insert(tx: Tx, account: Account, { issuer, subject }: Identity): Promise<boolean> {
    await accounts.insert(tx, rowFrom(account));
    const { rowCount } = await tx.query(insertIdentity, [issuer, subject, account.id, account.createdAt]);
    return rowCount === 1;
  }

  /** Inserts accounts without a login, but for those whose address or external id is taken; returns the inserted ones. */
  async insertAll(tx: Tx, all: readonly Account[]): Promise<ReadonlySet<string>> {
    // JSON has no large integers.
    const rows = all.map(rowFrom).map((row) => ({ ...row, revision: "1", settingsRevision: "1" }));
    await accounts.insertNewRows(tx, rows);
    const { rows: found } = await tx.query<{ id: string }>(findInserted, [all.map(({ id }) => id)]);
    return new Set(found.map(({ id }) => id));
  }

  /** Inserts an account without a login, which only its keys act for. */
  async insertWithoutLogin(tx: Tx, account: Account): Promise<void> {
    await accounts.insert(tx, rowFrom(account));
  }
}

/** Finds the account that has this id in another system. Until the transaction ends no other account takes it. */
export async function holderOfExternalId(tx: Tx, externalId: string): Promise<string | null> {
  await advisoryLock(tx, `external id ${externalId}`);
  return (await tx.query<{ id: string }>(findByExternalId, [externalId])).rows[0]?.id ?? null;
}

/** Served by the index `accounts_living_address_key`, which also enforces the promise where all else fails. */
const findHolder = sql(
  "verified-address.find-holder",
  `select id from accounts where verified_address = $1 and id <> $2 and status <> 'deleted' and purged_at is null`,
);

/**
 * Finds the living account that has verified the address, other than `accountId`. Until the transaction ends no other
 * account can verify it.
 */
export async function holderOfAddress(tx: Tx, address: string, accountId: string): Promise<string | null> {
  const canonical = canonicalAddress(address);
  await advisoryLock(tx, `verified address ${canonical}`);
  return (await tx.query<{ id: string }>(findHolder, [canonical, accountId])).rows[0]?.id ?? null;
}

const findInserted = sql("account.find-inserted", "select id from accounts where id = any ($1)");
const findHolders = sql(
  "account.find-holders",
  `select id, external_id as "externalId",
     case when status <> 'deleted' and purged_at is null then verified_address end as "verifiedAddress"
   from accounts
   where (verified_address = any ($1) and status <> 'deleted' and purged_at is null) or external_id = any ($2)`,
);

/** An account that has an address, verified, or an external id. */
export interface Holder {
  readonly id: string;
  readonly externalId: string | null;
  /** In the form that two spellings of one mailbox share; null for a deleted account. */
  readonly verifiedAddress: string | null;
}

/** Finds the accounts that hold one of these addresses, in canonical form, or external ids. */
export async function holdersOf(
  tx: Tx,
  addresses: readonly string[],
  externalIds: readonly string[],
): Promise<readonly Holder[]> {
  return (await tx.query<Holder>(findHolders, [addresses, externalIds])).rows;
}

/** The verified address is written with every change, so that it always belongs to the present contact address. */
function rowFrom(account: Account) {
  const { contactAddress, contactAddressVerified } = account;
  const isVerified = contactAddressVerified && contactAddress !== null;
  return { ...account, verifiedAddress: isVerified ? canonicalAddress(contactAddress) : null };
}

export function accountFrom(row: AccountRow): Account {
  return {
    ...row,
    status: row.status as AccountState,
    statusActor: row.statusActor as TransitionActor | null,
    roles: row.roles.filter(isRole),
    scopesMax: row.scopesMax.filter(isScope),
    metadata: row.metadata as Account["metadata"],
  };
}

/**
 * Batches reads of single rows: ids requested in one turn of the event loop, by any number of requests, go to the
 * database as one read. A request never joins a read that was already sent, so it sees everything committed before it
 * asked. Under load a round trip costs more than its rows.
 */
export function readTogether<Value extends { readonly id: string }>(
  readMany: (ids: readonly string[]) => Promise<readonly Value[]>,
): (id: string) => Promise<Value | null> {
  let gathering: { readonly ids: Set<string>; readonly found: Promise<ReadonlyMap<string, Value>> } | null = null;

  return async function read(id) {
    gathering ??= gather();
    gathering.ids.add(id);
    return (await gathering.found).get(id) ?? null;
  };

  function gather() {
    const ids = new Set<string>();
    return { ids, found: readAtEndOfTurn(ids) };
  }

  async function readAtEndOfTurn(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, Value>> {
    await endOfTurn();
    gathering = null;
    const values = await readMany([...ids]);
    return new Map(values.map((value) => [value.id, value]));
  }
}
