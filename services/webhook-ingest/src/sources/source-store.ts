import { type Pool, type Queryable, type Sealer, sql, type Tx } from "@signalbox/storage";
import type { Source } from "./source.ts";

/** A position in the list of an account's sources: oldest first. */
export interface SourcePosition {
  readonly createdAt: Date;
  readonly id: string;
}

const columns = `id, account_id as "accountId", name, scheme, event_types as "eventTypes", status, forward, settings, revision,
  created_at as "createdAt", updated_at as "updatedAt"`;
const insertSource = sql(
  "sources.insert",
  `insert into sources (id, account_id, name, scheme, sealed_secret, event_types, status, forward, settings, revision, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9::jsonb, $10, $11, $12)`,
);
const updateSource = sql(
  "sources.update",
  `update sources set name = $2, event_types = $3::jsonb, status = $4, forward = $5, settings = $6::jsonb, revision = $7,
     updated_at = $8 where id = $1`,
);
const updateSecret = sql("sources.update-secret", "update sources set sealed_secret = $2 where id = $1");
const deleteSource = sql("sources.delete", "delete from sources where id = $1");
const lockSource = sql(
  "sources.lock",
  `select ${columns} from sources where id = $1 and account_id = $2 for no key update`,
);
const lockForDelivery = sql("sources.lock-for-delivery", "select 1 from sources where id = $1 for key share");
const findOwn = sql("sources.find-own", `select ${columns} from sources where id = $1 and account_id = $2`);
const findWithSecret = sql(
  "sources.find-with-secret",
  `select ${columns}, sealed_secret as "sealedSecret" from sources where id = $1`,
);
const listOwn = sql(
  "sources.list",
  `select ${columns} from sources where account_id = $1 and (created_at, id) > ($2, $3) order by created_at, id limit $4`,
);
const listOfAccount = sql("sources.list-of-account", `select ${columns} from sources where account_id = $1 for update`);

const beginning: SourcePosition = { createdAt: new Date(0), id: "" };

/** Sources in PostgreSQL. Every look-up on behalf of a caller names the account, so another's source reads as missing. */
export function createSourceStore(pool: Pool, sealer: Sealer) {
  const place = (id: string) => ({ service: "webhook-ingest", table: "sources", row: id });
  const first = async (from: Queryable, ...query: Parameters<Queryable["query"]>): Promise<Source | null> =>
    (await from.query<Source>(...query)).rows[0] ?? null;

  return {
    find: (accountId: string, id: string) => first(pool, findOwn, [id, accountId]),
    lock: (tx: Tx, accountId: string, id: string) => first(tx, lockSource, [id, accountId]),
    /** False when it is gone; else it stays until the end of the transaction. */
    lockForDelivery: async (tx: Tx, id: string): Promise<boolean> =>
      (await tx.query(lockForDelivery, [id])).rowCount === 1,
    /** For ingest: the sender knows the id alone. */
    findWithSecret: async (id: string): Promise<{ source: Source; secret: string } | null> => {
      const { rows } = await pool.query<Source & { sealedSecret: string }>(findWithSecret, [id]);
      if (rows[0] === undefined) return null;
      const { sealedSecret, ...source } = rows[0];
      return { source, secret: sealer.open(sealedSecret, place(id)).toString("utf8") };
    },
    /** One more than `limit`, so that the caller sees whether there is another page. */
    list: async (accountId: string, limit: number, after: SourcePosition = beginning): Promise<Source[]> =>
      (await pool.query<Source>(listOwn, [accountId, after.createdAt, after.id, limit + 1])).rows,
    lockAllOf: async (tx: Tx, accountId: string): Promise<Source[]> =>
      (await tx.query<Source>(listOfAccount, [accountId])).rows,
    insert: async (tx: Tx, source: Source, secret: string): Promise<void> => {
      const { id, accountId, name, scheme, status, forward, revision, createdAt, updatedAt } = source;
      const sealed = sealer.seal(secret, place(id));
      const [eventTypes, settings] = [JSON.stringify(source.eventTypes), JSON.stringify(source.settings)];
      await tx.query(insertSource, [
        ...[id, accountId, name, scheme, sealed, eventTypes, status, forward, settings, revision, createdAt, updatedAt],
      ]);
    },
    update: async (tx: Tx, source: Source, secret: string | undefined): Promise<void> => {
      const { id, name, status, forward, revision, updatedAt } = source;
      const [eventTypes, settings] = [JSON.stringify(source.eventTypes), JSON.stringify(source.settings)];
      await tx.query(updateSource, [id, name, eventTypes, status, forward, settings, revision, updatedAt]);
      if (secret !== undefined) await tx.query(updateSecret, [id, sealer.seal(secret, place(id))]);
    },
    delete: async (tx: Tx, id: string): Promise<void> => void (await tx.query(deleteSource, [id])),
  };
}

export type SourceStore = ReturnType<typeof createSourceStore>;
