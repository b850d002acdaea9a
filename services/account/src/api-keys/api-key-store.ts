import { isRole, isScope } from "@signalbox/contracts";
import { sql, type Tx } from "@signalbox/storage";
import type { PrismaClient } from "../generated/prisma/client.ts";
import type { ApiKey } from "./api-key.ts";

/** Where a list goes on: after the key made at this time with this id. */
interface KeyPosition {
  readonly createdAt: Date;
  readonly id: string;
}

export interface ApiKeyStore {
  find(accountId: string, keyId: string): Promise<ApiKey | null>;
  findByDigest(digest: Uint8Array): Promise<ApiKey | null>;
  /** Newest first. */
  list(accountId: string, options: { readonly after: KeyPosition | null; readonly limit: number }): Promise<ApiKey[]>;
  insert(tx: Tx, key: ApiKey): Promise<void>;
  /** Reads the key and keeps others from changing it until the transaction ends. */
  lock(tx: Tx, accountId: string, keyId: string): Promise<ApiKey | null>;
  markRevoked(tx: Tx, key: ApiKey): Promise<void>;
  /** Notes the use of a key, at most once a minute: it says nothing else, so it may be lost. */
  touch(keyId: string, at: Date): Promise<void>;
}

type Row = Omit<ApiKey, "scopes" | "roles"> & { scopes: string[]; roles: string[] };

const insertKey = sql(
  "api-key.insert",
  `insert into api_keys (id, account_id, name, hint, digest, scopes, roles, access_epoch, created_at, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);

const lockKey = sql(
  "api-key.lock",
  `select id, account_id as "accountId", name, hint, digest, scopes, roles, access_epoch as "accessEpoch",
     created_at as "createdAt", expires_at as "expiresAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt"
   from api_keys where account_id = $1 and id = $2 for update`,
);

const revokeKey = sql("api-key.revoke", "update api_keys set revoked_at = $2, access_epoch = $3 where id = $1");

/** API keys in PostgreSQL: Prisma reads, prepared statements write. */
export function createApiKeyStore(prisma: PrismaClient): ApiKeyStore {
  return {
    async find(accountId, keyId) {
      const row = await prisma.apiKey.findFirst({ where: { id: keyId, accountId } });
      return row && keyFrom(row);
    },
    async findByDigest(digest) {
      const row = await prisma.apiKey.findUnique({ where: { digest: Uint8Array.from(digest) } });
      return row && keyFrom(row);
    },
    async list(accountId, { after, limit }) {
      const rows = await prisma.apiKey.findMany({
        where: { accountId, ...(after && { OR: [{ createdAt: { lt: after.createdAt } }, laterId(after)] }) },
        orderBy: [{ createdAt: "desc" }, { id: "desc" }],
        take: limit,
      });
      return rows.map(keyFrom);
    },
    async insert(tx, key) {
      const { id, accountId, name, hint, digest, scopes, roles, accessEpoch, createdAt, expiresAt } = key;
      const values = [id, accountId, name, hint, digest, scopes, roles, accessEpoch, createdAt, expiresAt];
      await tx.query(insertKey, values);
    },
    async lock(tx, accountId, keyId) {
      const { rows } = await tx.query<Row>(lockKey, [accountId, keyId]);
      return rows[0] ? keyFrom(rows[0]) : null;
    },
    async markRevoked(tx, { id, revokedAt, accessEpoch }) {
      await tx.query(revokeKey, [id, revokedAt, accessEpoch]);
    },
    async touch(keyId, at) {
      const minuteAgo = new Date(at.getTime() - 60_000);
      await prisma.apiKey.updateMany({
        where: { id: keyId, OR: [{ lastUsedAt: null }, { lastUsedAt: { lte: minuteAgo } }] },
        data: { lastUsedAt: at },
      });
    },
  };
}

const laterId = ({ createdAt, id }: KeyPosition) => ({ createdAt, id: { lt: id } });

function keyFrom(row: Row): ApiKey {
  return { ...row, scopes: row.scopes.filter(isScope), roles: row.roles.filter(isRole) };
}
