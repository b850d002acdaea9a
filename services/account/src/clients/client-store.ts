import { isScope } from "@signalbox/contracts";
import type { TimePosition } from "@signalbox/storage";
import { sql, type Tx } from "@signalbox/storage";
import type { PrismaClient } from "../generated/prisma/client.ts";
import { madeBefore } from "../lists/made-before.ts";
import type { ServiceClient } from "./service-client.ts";

export interface ClientStore {
  find(accountId: string, clientId: string): Promise<ServiceClient | null>;
  /** For the token endpoint, which knows no account yet; null when the account that made it is deleted. */
  findUsable(clientId: string): Promise<ServiceClient | null>;
  /** Whatever its state and that of its account. */
  findById(clientId: string): Promise<ServiceClient | null>;
  /** Newest first. */
  list(
    accountId: string,
    options: { readonly after: TimePosition | null; readonly limit: number },
  ): Promise<ServiceClient[]>;
  /** How many clients of the account are neither revoked nor expired. */
  countLive(tx: Tx, accountId: string, now: Date): Promise<number>;
  insert(tx: Tx, client: ServiceClient): Promise<void>;
  /** Reads the client and keeps others from changing it until the transaction ends. */
  lock(tx: Tx, accountId: string, clientId: string): Promise<ServiceClient | null>;
  /** Writes name, secrets and end of a locked client. */
  save(tx: Tx, client: ServiceClient): Promise<void>;
  /** Notes the use of a client, at most once a minute: it says nothing else, so it may be lost. */
  touch(clientId: string, at: Date): Promise<void>;
}

type Row = Omit<ServiceClient, "scopes"> & { scopes: string[] };

const countLiveClients = sql(
  "client.count-live",
  `select count(*)::int as count from service_clients
   where account_id = $1 and revoked_at is null and (expires_at is null or expires_at > $2)`,
);

const insertClient = sql(
  "client.insert",
  `insert into service_clients (id, account_id, name, scopes, digest, access_epoch, created_at, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

const lockClient = sql(
  "client.lock",
  `select id, account_id as "accountId", name, scopes, digest, previous_digest as "previousDigest",
     previous_until as "previousUntil", access_epoch as "accessEpoch", created_at as "createdAt",
     expires_at as "expiresAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt"
   from service_clients where account_id = $1 and id = $2 for update`,
);

const saveClient = sql(
  "client.save",
  `update service_clients set name = $2, digest = $3, previous_digest = $4, previous_until = $5, access_epoch = $6,
     revoked_at = $7
   where id = $1`,
);

/** Service clients in PostgreSQL: Prisma reads, prepared statements write. */
export function createClientStore(prisma: PrismaClient): ClientStore {
  return {
    async find(accountId, clientId) {
      const row = await prisma.serviceClient.findFirst({ where: { id: clientId, accountId } });
      return row && clientFrom(row);
    },
    async findUsable(clientId) {
      const row = await prisma.serviceClient.findFirst({
        where: { id: clientId, account: { status: { not: "deleted" } } },
      });
      return row && clientFrom(row);
    },
    async findById(clientId) {
      const row = await prisma.serviceClient.findUnique({ where: { id: clientId } });
      return row && clientFrom(row);
    },
    async list(accountId, { after, limit }) {
      const rows = await prisma.serviceClient.findMany({
        where: { accountId, ...(after && madeBefore(after)) },
        orderBy: [{ createdAt: "desc" }, { id: "desc" }],
        take: limit,
      });
      return rows.map(clientFrom);
    },
    async countLive(tx, accountId, now) {
      const { rows } = await tx.query<{ count: number }>(countLiveClients, [accountId, now]);
      return rows[0]?.count ?? 0;
    },
    async insert(tx, client) {
      const { id, accountId, name, scopes, digest, accessEpoch, createdAt, expiresAt } = client;
      await tx.query(insertClient, [id, accountId, name, scopes, digest, accessEpoch, createdAt, expiresAt]);
    },
    async lock(tx, accountId, clientId) {
      const { rows } = await tx.query<Row>(lockClient, [accountId, clientId]);
      return rows[0] ? clientFrom(rows[0]) : null;
    },
    async save(tx, client) {
      const { id, name, digest, previousDigest, previousUntil, accessEpoch, revokedAt } = client;
      await tx.query(saveClient, [id, name, digest, previousDigest, previousUntil, accessEpoch, revokedAt]);
    },
    async touch(clientId, at) {
      const minuteAgo = new Date(at.getTime() - 60_000);
      await prisma.serviceClient.updateMany({
        where: { id: clientId, OR: [{ lastUsedAt: null }, { lastUsedAt: { lte: minuteAgo } }] },
        data: { lastUsedAt: at },
      });
    },
  };
}

function clientFrom(row: Row): ServiceClient {
  return { ...row, scopes: row.scopes.filter(isScope) };
}
