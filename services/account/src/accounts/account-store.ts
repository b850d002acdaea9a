import { type AccountState, isRole, type TransitionActor } from "@signalbox/contracts";
import { type Pool, sql, sqlRows, type Tx } from "@signalbox/storage";
import type { PrismaClient } from "../generated/prisma/client.ts";
import type { Account } from "./account.ts";
import { readTogether } from "./read-together.ts";

/** A login: our name of its issuer, and its subject there. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

interface ReadAccount {
  readonly id: string;
  readonly account: Account;
  /** Another one after every change of the row. */
  readonly version: string;
}

export interface AccountStore {
  find(accountId: string): Promise<Account | null>;
  findMany(accountIds: readonly string[]): Promise<Account[]>;
  /** Reads the account and the version of its row, for a write that does without a lock. */
  read(accountId: string): Promise<ReadAccount | null>;
  findByIdentity(identity: Identity): Promise<Account | null>;
  /** Reads the account and keeps others from changing it until the transaction ends. */
  lock(tx: Tx, accountId: string): Promise<Account | null>;
  /** Writes every field of a locked account, but for the begin of its purge. */
  save(tx: Tx, account: Account): Promise<void>;
  /** Writes every field of an account if nobody has changed it since it was read as this version; else touches no row. */
  saveAsRead(tx: Tx, account: Account, version: string): Promise<void>;
  /** Adds the account of a new identity; false when the identity has one already, and the transaction must not commit. */
  insert(tx: Tx, account: Account, identity: Identity): Promise<boolean>;
}

/** An account as its row has it. */
export type AccountRow = Omit<Account, "status" | "roles" | "statusActor"> & {
  status: string;
  roles: string[];
  statusActor: string | null;
};

const columns = `id, display_name as "displayName", contact_address as "contactAddress",
  contact_address_verified as "contactAddressVerified", pending_contact_address as "pendingContactAddress",
  locale, timezone, product_updates as "productUpdates", status, roles, revision,
  settings_revision as "settingsRevision", access_epoch as "accessEpoch", created_at as "createdAt",
  updated_at as "updatedAt", settings_updated_at as "settingsUpdatedAt", status_changed_at as "statusChangedAt",
  status_actor as "statusActor", status_reason as "statusReason", recovery_requested_at as "recoveryRequestedAt",
  purge_begun_at as "purgeBegunAt", purged_at as "purgedAt"`;

/** PostgreSQL gives a row another `xmin` with every change of it. */
const readAccounts = sql("account.read", `select ${columns}, xmin::text as version from accounts where id = any ($1)`);

const lockAccount = sql("account.lock", `select ${columns} from accounts where id = $1 for update`);

/** What a write says of an account after its id, in the order of `valuesOf`. */
const writtenColumns = {
  display_name: "text",
  contact_address: "text",
  contact_address_verified: "bool",
  pending_contact_address: "text",
  locale: "text",
  timezone: "text",
  product_updates: "bool",
  status: "text",
  roles: "text[]",
  revision: "int8",
  settings_revision: "int8",
  access_epoch: "int8",
  updated_at: "timestamptz",
  settings_updated_at: "timestamptz",
  status_changed_at: "timestamptz",
  status_actor: "text",
  status_reason: "text",
  recovery_requested_at: "timestamptz",
  purged_at: "timestamptz",
};
const written = Object.entries(writtenColumns);
/** What `textOf` says of each written column. `place` counts from 2: the id is the first value. */
const each = (textOf: (name: string, place: number, type: string) => string): string =>
  written.map(([name, type], index) => textOf(name, index + 2, type)).join(", ");
const names = each((name) => name);

const saveAccount = sql(
  "account.save",
  `update accounts set ${each((name, place) => `${name} = $${place}`)} where id = $1`,
);

const saveAccountsAsRead = sqlRows(
  "account.save-as-read",
  `($1::text, ${each((_, place, type) => `$${place}::${type}`)}, $21::text::xid)`,
  (tuples) =>
    `update accounts set ${each((name) => `${name} = saved.${name}`)}
     from (values ${tuples}) as saved (id, ${names}, version)
     where accounts.id = saved.id and accounts.xmin = saved.version`,
);

const insertAccount = sql(
  "account.insert",
  `insert into accounts (id, ${names}, created_at) values ($1, ${each((_, place) => `$${place}`)}, $21)`,
);

const insertIdentity = sql(
  "identity.insert",
  `insert into identities (issuer, subject, account_id, created_at) values ($1, $2, $3, $4) on conflict do nothing`,
);

/** Accounts in PostgreSQL. Prepared statements write them, and read what nearly every request asks for. */
export function createAccountStore(pool: Pool, prisma: PrismaClient): AccountStore {
  const readMany = async (accountIds: readonly string[]): Promise<ReadAccount[]> => {
    const { rows } = await pool.query<AccountRow & { version: string }>(readAccounts, [accountIds]);
    return rows.map(({ version, ...row }) => ({ id: row.id, account: accountFrom(row), version }));
  };
  const read = readTogether(readMany);
  return {
    read,
    find: async (accountId) => (await read(accountId))?.account ?? null,
    findMany: async (accountIds) => (await readMany(accountIds)).map(({ account }) => account),
    async findByIdentity({ issuer, subject }) {
      const row = await prisma.account.findFirst({ where: { identities: { some: { issuer, subject } } } });
      return row && accountFrom(row);
    },
    async lock(tx, accountId) {
      const { rows } = await tx.query<AccountRow>(lockAccount, [accountId]);
      return rows[0] ? accountFrom(rows[0]) : null;
    },
    async save(tx, account) {
      await tx.query(saveAccount, valuesOf(account));
    },
    async saveAsRead(tx, account, version) {
      await tx.query(saveAccountsAsRead, [...valuesOf(account), version]);
    },
    async insert(tx, account, identity) {
      await tx.query(insertAccount, [...valuesOf(account), account.createdAt]);
      const { issuer, subject } = identity;
      const { rowCount } = await tx.query(insertIdentity, [issuer, subject, account.id, account.createdAt]);
      return rowCount === 1;
    },
  };
}

function valuesOf(account: Account): unknown[] {
  return [
    account.id,
    account.displayName,
    account.contactAddress,
    account.contactAddressVerified,
    account.pendingContactAddress,
    account.locale,
    account.timezone,
    account.productUpdates,
    account.status,
    account.roles,
    account.revision,
    account.settingsRevision,
    account.accessEpoch,
    account.updatedAt,
    account.settingsUpdatedAt,
    account.statusChangedAt,
    account.statusActor,
    account.statusReason,
    account.recoveryRequestedAt,
    account.purgedAt,
  ];
}

export function accountFrom(row: AccountRow): Account {
  return {
    ...row,
    status: row.status as AccountState,
    statusActor: row.statusActor as TransitionActor | null,
    roles: row.roles.filter(isRole),
  };
}
