import { type Pool, type Queryable, type Sealer, sql, type Tx } from "@signalbox/storage";
import type { Endpoint } from "./endpoint.ts";

/** A position in the list of an account's endpoints: oldest first. */
export interface EndpointPosition {
  readonly createdAt: Date;
  readonly id: string;
}

/** What signs deliveries: the secret, and the one before it while a rotation overlaps. */
export interface SigningSecrets {
  readonly secret: string;
  readonly previousSecret: string | null;
}

/** The sealed columns, as rows carry them. */
export interface SealedSecrets {
  readonly sealedSecret: string;
  readonly sealedPreviousSecret: string | null;
  readonly previousSecretUntil: Date | null;
}

const columns = `id, account_id as "accountId", url, description, event_types as "eventTypes", status,
  disabled_reason as "disabledReason", settings, revision, created_at as "createdAt", updated_at as "updatedAt"`;
const insertEndpoint = sql(
  "endpoints.insert",
  `insert into endpoints (id, account_id, url, description, event_types, status, disabled_reason, settings, sealed_secret,
     revision, created_at, updated_at) values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8::jsonb, $9, $10, $11, $12)`,
);
const updateEndpoint = sql(
  "endpoints.update",
  `update endpoints set url = $2, description = $3, event_types = $4::jsonb, status = $5, disabled_reason = $6,
     settings = $7::jsonb, revision = $8, updated_at = $9 where id = $1`,
);
const rotateSecret = sql(
  "endpoints.rotate-secret",
  `update endpoints set sealed_previous_secret = sealed_secret, previous_secret_until = $3, sealed_secret = $2 where id = $1`,
);
const deleteEndpoint = sql("endpoints.delete", "delete from endpoints where id = $1");
const lockEndpoint = sql(
  "endpoints.lock",
  `select ${columns} from endpoints where id = $1 and account_id = $2 for update`,
);
const findEndpoint = sql("endpoints.find", `select ${columns} from endpoints where id = $1 and account_id = $2`);
const findSecret = sql(
  "endpoints.find-secret",
  `select sealed_secret as "sealedSecret" from endpoints where id = $1 and account_id = $2`,
);
const listEndpoints = sql(
  "endpoints.list",
  `select ${columns} from endpoints where account_id = $1 and (created_at, id) > ($2, $3) order by created_at, id limit $4`,
);
const subscribersOf = sql(
  "endpoints.subscribers",
  // Against a pause, resume or removal under way: what is held for an endpoint must be seen by whoever releases it.
  `select ${columns} from endpoints where account_id = $1 and created_at <= $2 order by id for key share`,
);
const lockAllOf = sql(
  "endpoints.lock-all",
  `select ${columns} from endpoints where account_id = $1 order by id for update`,
);
const statusOf = sql("endpoints.status", "select status from endpoints where id = $1 for key share");
const countOf = sql("endpoints.count", "select count(*)::int as count from endpoints where account_id = $1");

const beginning: EndpointPosition = { createdAt: new Date(0), id: "" };

/** Endpoints in PostgreSQL. Every look-up on behalf of a caller names the account, so another's endpoint reads as missing. */
export function createEndpointStore(pool: Pool, sealer: Sealer) {
  const place = (id: string) => ({ service: "webhook-delivery", table: "endpoints", row: id });
  const open = (id: string, sealed: string): string => sealer.open(sealed, place(id)).toString("utf8");
  const first = async (from: Queryable, ...query: Parameters<Queryable["query"]>): Promise<Endpoint | null> =>
    (await from.query<Endpoint>(...query)).rows[0] ?? null;

  return {
    find: (accountId: string, id: string) => first(pool, findEndpoint, [id, accountId]),
    lock: (tx: Tx, accountId: string, id: string) => first(tx, lockEndpoint, [id, accountId]),
    /** One more than `limit`, so that the caller sees whether there is another page. */
    list: async (accountId: string, limit: number, after: EndpointPosition = beginning): Promise<Endpoint[]> =>
      (await pool.query<Endpoint>(listEndpoints, [accountId, after.createdAt, after.id, limit + 1])).rows,
    /** The account's endpoints that were there when an event of `at` was committed. */
    subscribers: async (from: Queryable, accountId: string, at: Date): Promise<Endpoint[]> =>
      (await from.query<Endpoint>(subscribersOf, [accountId, at])).rows,
    /** Whether its deliveries wait. It stays so until the end of the transaction. */
    isHolding: async (tx: Tx, id: string): Promise<boolean> => {
      const { rows } = await tx.query<{ status: string }>(statusOf, [id]);
      return rows[0] !== undefined && rows[0].status !== "enabled";
    },
    count: async (tx: Tx, accountId: string): Promise<number> =>
      (await tx.query<{ count: number }>(countOf, [accountId])).rows[0]?.count ?? 0,
    lockAllOf: async (tx: Tx, accountId: string): Promise<Endpoint[]> =>
      (await tx.query<Endpoint>(lockAllOf, [accountId])).rows,
    insert: async (tx: Tx, endpoint: Endpoint, secret: string): Promise<void> => {
      const { id, accountId, url, description, status, disabledReason, revision, createdAt, updatedAt } = endpoint;
      const [eventTypes, settings] = [JSON.stringify(endpoint.eventTypes), JSON.stringify(endpoint.settings)];
      const sealed = sealer.seal(secret, place(id));
      const values = [id, accountId, url, description, eventTypes, status, disabledReason, settings, sealed, revision];
      await tx.query(insertEndpoint, [...values, createdAt, updatedAt]);
    },
    update: async (tx: Tx, endpoint: Endpoint): Promise<void> => {
      const { id, url, description, status, disabledReason, revision, updatedAt } = endpoint;
      const [eventTypes, settings] = [JSON.stringify(endpoint.eventTypes), JSON.stringify(endpoint.settings)];
      const values = [id, url, description, eventTypes, status, disabledReason, settings, revision, updatedAt];
      await tx.query(updateEndpoint, values);
    },
    rotate: async (tx: Tx, id: string, secret: string, previousUntil: Date): Promise<void> =>
      void (await tx.query(rotateSecret, [id, sealer.seal(secret, place(id)), previousUntil])),
    delete: async (tx: Tx, id: string): Promise<void> => void (await tx.query(deleteEndpoint, [id])),
    /** The secret as it was shown; null when the account has no such endpoint. */
    revealSecret: async (accountId: string, id: string): Promise<string | null> => {
      const { rows } = await pool.query<{ sealedSecret: string }>(findSecret, [id, accountId]);
      return rows[0] === undefined ? null : open(id, rows[0].sealedSecret);
    },
    /** Opens what a row carries; the previous secret only while its time lasts. */
    openSecrets: (id: string, sealed: SealedSecrets, at: Date): SigningSecrets => {
      const { sealedSecret, sealedPreviousSecret, previousSecretUntil } = sealed;
      const overlaps = sealedPreviousSecret !== null && previousSecretUntil !== null && previousSecretUntil > at;
      return { secret: open(id, sealedSecret), previousSecret: overlaps ? open(id, sealedPreviousSecret) : null };
    },
  };
}

export type EndpointStore = ReturnType<typeof createEndpointStore>;
