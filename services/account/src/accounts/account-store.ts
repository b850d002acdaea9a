import { type AccountState, isRole, type TransitionActor } from "@signalbox/contracts";
import { type Pool, sql, type Tx, table } from "@signalbox/storage";
import type { PrismaClient } from "../generated/prisma/client.ts";
import type { Account } from "./account.ts";
import { readTogether } from "./read-together.ts";

/** A login: our name of its issuer, and its subject there. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** An account that was read without a lock. */
interface ReadAccount extends Account {
  /** Another one after every change of the row: a write without a lock holds only for this one. */
  readonly version: string;
}

export interface AccountStore {
  find(accountId: string): Promise<ReadAccount | null>;
  findMany(accountIds: readonly string[]): Promise<Account[]>;
  findByIdentity(identity: Identity): Promise<Account | null>;
  /** Reads the account and keeps others from changing it until the transaction ends. */
  lock(tx: Tx, accountId: string): Promise<Account | null>;
  /** Writes every field of an account, but for the begin of its purge. */
  save(tx: Tx, account: Account): Promise<void>;
  /** Adds the account of a new identity; false when the identity has one already, and the transaction must not commit. */
  insert(tx: Tx, account: Account, identity: Identity): Promise<boolean>;
}

/** An account as its row has it. */
export type AccountRow = Omit<Account, "status" | "roles" | "statusActor"> & {
  status: string;
  roles: string[];
  statusActor: string | null;
};

const accounts = table("accounts", {
  id: "text",
  displayName: "text",
  contactAddress: "text",
  contactAddressVerified: "bool",
  pendingContactAddress: "text",
  locale: "text",
  timezone: "text",
  productUpdates: "bool",
  status: "text",
  roles: "text[]",
  revision: "int8",
  settingsRevision: "int8",
  accessEpoch: "int8",
  createdAt: "timestamptz",
  updatedAt: "timestamptz",
  settingsUpdatedAt: "timestamptz",
  statusChangedAt: "timestamptz",
  statusActor: "text",
  statusReason: "text",
  recoveryRequestedAt: "timestamptz",
  purgeBegunAt: "timestamptz",
  purgedAt: "timestamptz",
});

/** PostgreSQL gives a row another `xmin` with every change of it. */
const readAccounts = sql(
  "account.read",
  `select ${accounts.columns}, xmin::text as version from accounts where id = any ($1)`,
);

const lockAccount = sql("account.lock", `select ${accounts.columns} from accounts where id = $1 for update`);

/** All but the id, the time of creation, and the begin of the purge, which its own statement writes. */
const saveAccount = accounts.update(
  "displayName",
  "contactAddress",
  "contactAddressVerified",
  "pendingContactAddress",
  "locale",
  "timezone",
  "productUpdates",
  "status",
  "roles",
  "revision",
  "settingsRevision",
  "accessEpoch",
  "updatedAt",
  "settingsUpdatedAt",
  "statusChangedAt",
  "statusActor",
  "statusReason",
  "recoveryRequestedAt",
  "purgedAt",
);

const insertIdentity = sql(
  "identity.insert",
  `insert into identities (issuer, subject, account_id, created_at) values ($1, $2, $3, $4) on conflict do nothing`,
);

/** Accounts in PostgreSQL. Prepared statements write them, and read what nearly every request asks for. */
export function createAccountStore(pool: Pool, prisma: PrismaClient): AccountStore {
  const readMany = async (accountIds: readonly string[]): Promise<ReadAccount[]> => {
    const { rows } = await pool.query<AccountRow & { version: string }>(readAccounts, [accountIds]);
    return rows.map((row) => ({ ...accountFrom(row), version: row.version }));
  };
  const read = readTogether(readMany);
  return {
    find: read,
    findMany: readMany,
    async findByIdentity({ issuer, subject }) {
      const row = await prisma.account.findFirst({ where: { identities: { some: { issuer, subject } } } });
      return row && accountFrom(row);
    },
    async lock(tx, accountId) {
      const { rows } = await tx.query<AccountRow>(lockAccount, [accountId]);
      return rows[0] ? accountFrom(rows[0]) : null;
    },
    async save(tx, account) {
      await saveAccount(tx, account);
    },
    async insert(tx, account, identity) {
      await accounts.insert(tx, account);
      const { issuer, subject } = identity;
      const { rowCount } = await tx.query(insertIdentity, [issuer, subject, account.id, account.createdAt]);
      return rowCount === 1;
    },
  };
}

export function accountFrom(row: AccountRow): Account {
  return {
    ...row,
    status: row.status as AccountState,
    statusActor: row.statusActor as TransitionActor | null,
    roles: row.roles.filter(isRole),
  };
}
