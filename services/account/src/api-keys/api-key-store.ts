import { isRole, isScope } from "@signalbox/contracts";
import { minutes } from "@signalbox/core";
import type { TimePosition } from "@signalbox/storage";
import { sql, type Tx } from "@signalbox/storage";
import type { PrismaClient } from "../generated/prisma/client.ts";
import { madeBefore } from "../lists/made-before.ts";
import type { ApiKey } from "./api-key.ts";

export interface ApiKeyStore {
  find(accountId: string, keyId: string): Promise<ApiKey | null>;
  /** Those of the ids that are keys of the account, in no order. */
  findMany(accountId: string, keyIds: readonly string[]): Promise<ApiKey[]>;
  findByDigest(digest: Uint8Array): Promise<ApiKey | null>;
  /** Newest first. */
  list(accountId: string, options: { readonly after: TimePosition | null; readonly limit: number }): Promise<ApiKey[]>;
  insert(tx: Tx, key: ApiKey): Promise<void>;
  /** Reads the key and keeps others from changing it until the transaction ends. */
  lock(tx: Tx, accountId: string, keyId: string): Promise<ApiKey | null>;
  /** Writes what may change of a locked key: its name, its end, its epoch, what replaces it. */
  save(tx: Tx, key: ApiKey): Promise<void>;
  /** How many keys of the account are good: all, and those that nothing replaces yet. Who adds one has locked the account. */
  countLive(tx: Tx, accountId: string, now: Date): Promise<{ readonly live: number; readonly current: number }>;
  /** Takes up to `limit` keys that ended by themselves and that nobody told of, each once, with their next epoch. */
  takeEnded(tx: Tx, now: Date, limit: number): Promise<ApiKey[]>;
  /**
   * Notes the use of a key, once in each minute of the clock: a service that tells of it every sixty seconds is heard each
   * time. It says nothing else, so it may be lost.
   */
  touch(keyId: string, at: Date): Promise<void>;
}

type Row = Omit<ApiKey, "scopes" | "roles"> & { scopes: string[]; roles: string[] };

const columns = `id, account_id as "accountId", name, hint, digest, scopes, roles, access_epoch as "accessEpoch",
  created_at as "createdAt", expires_at as "expiresAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt",
  replaces, replaced_by as "replacedBy"`;

const insertKey = sql(
  "api-key.insert",
  `insert into api_keys (id, account_id, name, hint, digest, scopes, roles, access_epoch, created_at, expires_at, replaces)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);

const lockKey = sql("api-key.lock", `select ${columns} from api_keys where account_id = $1 and id = $2 for update`);

/** Who revokes a key tells of its end in the same transaction, and nobody has to tell it again at its expiry. */
const saveKey = sql(
  "api-key.save",
  `update api_keys set name = $2, expires_at = $3, revoked_at = $4, access_epoch = $5, replaced_by = $6,
     end_told_at = coalesce(end_told_at, $4)
   where id = $1`,
);

const countLiveKeys = sql(
  "api-key.count-live",
  `select count(*)::int as live, (count(*) filter (where replaced_by is null))::int as current from api_keys
   where account_id = $1 and revoked_at is null and (expires_at is null or expires_at > $2)`,
);

const takeEndedKeys = sql(
  "api-key.take-ended",
  `update api_keys set end_told_at = $1, access_epoch = access_epoch + 1
   where id in (
     select id from api_keys where end_told_at is null and revoked_at is null and expires_at <= $1
     order by expires_at limit $2 for update skip locked)
   returning ${columns}`,
);

/** API keys in PostgreSQL: Prisma reads, prepared statements write. */
export function createApiKeyStore(prisma: PrismaClient): ApiKeyStore {
  return {
    async find(accountId, keyId) {
      const row = await prisma.apiKey.findFirst({ where: { id: keyId, accountId } });
      return row && keyFrom(row);
    },
    async findMany(accountId, keyIds) {
      const rows = await prisma.apiKey.findMany({ where: { accountId, id: { in: [...keyIds] } } });
      return rows.map(keyFrom);
    },
    async findByDigest(digest) {
      const row = await prisma.apiKey.findUnique({ where: { digest: Uint8Array.from(digest) } });
      return row && keyFrom(row);
    },
    async list(accountId, { after, limit }) {
      const rows = await prisma.apiKey.findMany({
        where: { accountId, ...(after && madeBefore(after)) },
        orderBy: [{ createdAt: "desc" }, { id: "desc" }],
        take: limit,
      });
      return rows.map(keyFrom);
    },
    async insert(tx, key) {
      const { id, accountId, name, hint, digest, scopes, roles, accessEpoch, createdAt, expiresAt, replaces } = key;
      const values = [id, accountId, name, hint, digest, scopes, roles, accessEpoch, createdAt, expiresAt, replaces];
      await tx.query(insertKey, values);
    },
    async lock(tx, accountId, keyId) {
      const { rows } = await tx.query<Row>(lockKey, [accountId, keyId]);
      return rows[0] ? keyFrom(rows[0]) : null;
    },
    async save(tx, { id, name, expiresAt, revokedAt, accessEpoch, replacedBy }) {
      await tx.query(saveKey, [id, name, expiresAt, revokedAt, accessEpoch, replacedBy]);
    },
    async countLive(tx, accountId, now) {
      const { rows } = await tx.query<{ live: number; current: number }>(countLiveKeys, [accountId, now]);
      return rows[0] ?? { live: 0, current: 0 };
    },
    async takeEnded(tx, now, limit) {
      const { rows } = await tx.query<Row>(takeEndedKeys, [now, limit]);
      return rows.map(keyFrom);
    },
    async touch(keyId, at) {
      const minute = new Date(at.getTime() - (at.getTime() % minutes(1)));
      await prisma.apiKey.updateMany({
        where: { id: keyId, OR: [{ lastUsedAt: null }, { lastUsedAt: { lt: minute } }] },
        data: { lastUsedAt: at },
      });
    },
  };
}

function keyFrom(row: Row): ApiKey {
  return { ...row, scopes: row.scopes.filter(isScope), roles: row.roles.filter(isRole) };
}
