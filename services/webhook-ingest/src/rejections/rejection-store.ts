import type { IncomingHttpHeaders } from "node:http";
import { KiB, masked, type Patch } from "@signalbox/core";
import { outboxInsert, type PreparedEvent } from "@signalbox/events";
import {
  type ListRange,
  newestFirst,
  ofEachParent,
  type Queryable,
  rangeValues,
  type SealedColumn,
  type Sealer,
  sql,
  type Tx,
} from "@signalbox/storage";
import type { IngestService } from "../context/ingest-service.ts";
import type { RejectionRetry } from "../generated/prisma/client.ts";
import { keptHeaders } from "../sources/request-headers.ts";
import type { RejectedWebhook, Rejection, RejectionInFull } from "./rejection.ts";

const insert = sql(
  "rejection.insert",
  // Each one without a body pushes out the one that is too old, so that the bound holds at every moment and not only
  // after a clean-up. The event goes out with the row, and without a source there is neither.
  `with gone as (
     delete from rejections where source_id = $2 and body is null and $11::bytea is null and (rejected_at, id) <= (
       select rejected_at, id from rejections where source_id = $2 and body is null
       order by rejected_at desc, id desc offset $8 - 1 limit 1)),
   stored as (
     insert into rejections (
       id, source_id, reason, status, body_bytes, address, rejected_at, figures, headers, body, sealed_proof)
     select $1, $2, $3, $4, $5, $6, $7, $9::jsonb, $10::jsonb, $11, $12 where exists (select from sources where id = $2)
     returning id)
   ${outboxInsert(`select $13::uuid as event_id, $14::text as topic, $15::text as key, $16::text as headers,
     $17::bytea as payload, $18::int4 as key_hash from stored where $13::uuid is not null`)}`,
);
const trim = sql(
  "rejection.trim-bodies",
  // Small webhooks count for what their rows take.
  `with summed as (
     select id, sum(greatest(octet_length(body) + pg_column_size(headers) + octet_length(sealed_proof), ${1 * KiB})) over (order by rejected_at desc, id desc) as bytes
     from rejections where source_id = $1 and body is not null)
   delete from rejections using summed where rejections.id = summed.id and summed.bytes > $2`,
);
const listed = `id, source_id as "sourceId", reason, status, body_bytes as "bodyBytes", address, rejected_at as "rejectedAt",
  received_id as "receivedId", figures, coalesce(octet_length(body) = body_bytes, false) as "isKept"`;
const listOf = (source: string) =>
  ofEachParent(`select ${listed} from rejections where ${source} and rejected_at >= $5 and rejected_at < $6
    and ${newestFirst(2, "rejected_at")}`);
const list = sql("rejection.list", listOf("source_id = parent.id"));
const listOfReason = sql("rejection.list-of-reason", listOf("source_id = parent.id and reason = $7"));
const find = sql("rejection.find", `select ${listed}, headers, body from rejections where source_id = $1 and id = $2`);
const findOwn = sql(
  "rejection.find-own",
  `select ${listed} from rejections
   where id = $2 and source_id in (select id from sources where account_id = $1)`,
);
const lock = sql(
  "rejection.lock",
  `select ${listed}, headers, body, sealed_proof as "sealedProof" from rejections
   where source_id = $2 and id = $3 and source_id in (select id from sources where account_id = $1) for update`,
);
/** Kept rejections that no retry has received. */
const chosen = `source_id = $1 and received_id is null and sealed_proof is not null and octet_length(body) = body_bytes
  and ($2::text is null or reason = $2) and rejected_at < $3`;
const countKept = sql(
  "rejection.count-kept",
  `select count(*)::int as count from rejections where ${chosen} and rejected_at >= $4`,
);
const lockKept = sql(
  "rejection.lock-kept",
  `select ${listed}, headers, body, sealed_proof as "sealedProof" from rejections
   where ${chosen} and (rejected_at, id) > ($4, $5) order by rejected_at, id limit $6 for update`,
);
const saveReceived = sql("rejection.save-received", "update rejections set received_id = $2 where id = $1");

const place = (id: unknown) => ({ service: "webhook-ingest", table: "rejections", row: String(id) });

export const sealedProofs: SealedColumn = {
  table: "rejections",
  column: "sealed_proof",
  key: ["id"],
  condition: "sealed_proof is not null",
  place: ([id]) => place(id),
};

const shownBytes = 4 * KiB;

const beginning = new Date(0);
const endOfTime = new Date("9999-12-31T00:00:00.000Z");

/** Kept rejections of a source between two times, of a reason or of any, with the position of a retry among them. */
type RejectionChoice = Omit<RejectionRetry, "status" | "total" | "dueAt">;

type RejectionFilter = Patch<{ reason: string; from: Date; to: Date }>;

/** A locked rejection with its webhook; null when the webhook is not kept whole. */
export interface LockedRejection extends Rejection {
  readonly webhook: RejectedWebhook | null;
}

/** Deletes the oldest kept webhooks of a source beyond a number of bytes. */
export const trimBodies = ({ pool }: IngestService, sourceId: string, bytesMax: number) =>
  pool.query(trim, [sourceId, bytesMax]);

/** Stores a rejection; one without a webhook deletes all such but the newest `perSource`. Returns its shards. */
export async function insertRejection(
  { pool, sealer }: IngestService,
  rejection: Rejection,
  event: PreparedEvent | null,
  perSource: number,
  webhook: RejectedWebhook | null,
): Promise<number[]> {
  const { id, sourceId, reason, status, bodyBytes, address, rejectedAt, figures } = rejection;
  const shown = figures && JSON.stringify(figures);
  const row = [id, sourceId, reason, status, bodyBytes, address, rejectedAt, perSource, shown];
  const { rows } = await pool.query<{ shard: number }>(insert, [
    ...row,
    ...(webhook ? keptOf(sealer, id, webhook) : [null, null, null]),
    ...[event?.eventId, event?.topic, event?.key, event?.headers, event?.payload, event?.keyHash].map(
      (one) => one ?? null,
    ),
  ]);
  return rows.map(({ shard }) => shard);
}

export async function listRejections(
  db: Queryable,
  sourceIds: readonly string[],
  range: ListRange,
  filter: RejectionFilter = {},
): Promise<Rejection[]> {
  const { reason, from = beginning, to = endOfTime } = filter;
  const values = [sourceIds, ...rangeValues(range), from, to];
  if (reason === undefined) return (await db.query<Rejection>(list, values)).rows;
  return (await db.query<Rejection>(listOfReason, [...values, reason])).rows;
}

/** Finds a rejection with the kept part of its webhook; the body is cut to the size that is shown. */
export async function findRejection(db: Queryable, sourceId: string, id: string): Promise<RejectionInFull | null> {
  const [found] = (await db.query<RejectionInFull>(find, [sourceId, id])).rows;
  return found ? { ...found, body: found.body?.subarray(0, shownBytes) ?? null } : null;
}

/** Finds a rejection of any source of the account. */
export const findOwnRejection = async (db: Queryable, accountId: string, id: string): Promise<Rejection | null> =>
  (await db.query<Rejection>(findOwn, [accountId, id])).rows[0] ?? null;

/** Finds a rejection of the account with its webhook, and blocks a concurrent retry until the transaction ends. */
export async function lockRejection(service: IngestService, tx: Tx, accountId: string, sourceId: string, id: string) {
  const { sealer } = service;
  const [found] = (await tx.query<LockedRow>(lock, [accountId, sourceId, id])).rows;
  return found === undefined ? null : opened(sealer, found);
}

type LockedRow = RejectionInFull & { readonly sealedProof: string | null };

function opened(sealer: Sealer, { headers, body, sealedProof, ...rejection }: LockedRow): LockedRejection {
  if (!rejection.isKept || body === null || sealedProof === null) return { ...rejection, webhook: null };
  const { method, url, proofs }: Proof = JSON.parse(sealer.open(sealedProof, place(rejection.id)).toString("utf8"));
  return {
    ...rejection,
    webhook: { method, url, headers: { ...headers, ...proofs }, body },
  };
}

export async function countKeptRejections(db: Queryable, { sourceId, reason, fromAt, toAt }: RejectionChoice) {
  return (await db.query<{ count: number }>(countKept, [sourceId, reason, toAt, fromAt])).rows[0]?.count ?? 0;
}

/** Finds and locks the next chosen rejections after a position, in the order of their arrival. */
export async function lockKeptRejections({ sealer }: IngestService, tx: Tx, choice: RejectionChoice, limit: number) {
  const { sourceId, reason, toAt, positionAt, positionId } = choice;
  const { rows } = await tx.query<LockedRow>(lockKept, [sourceId, reason, toAt, positionAt, positionId, limit]);
  return rows.map((row) => opened(sealer, row));
}

export const saveRetried = (tx: Tx, id: string, receivedId: string) => tx.query(saveReceived, [id, receivedId]);

function keptOf(sealer: Sealer, id: string, webhook: RejectedWebhook): unknown[] {
  const { method, url, headers, body, proofHeaders } = webhook;
  const shown = keptHeaders(headers, proofHeaders);
  const proofs = Object.fromEntries(Object.entries(headers).filter(([name]) => shown[name] === masked));
  const proof = sealer.seal(JSON.stringify({ method, url, proofs } satisfies Proof), place(id));
  return [JSON.stringify(shown), body, proof];
}

interface Proof {
  readonly method: string;
  readonly url: string;
  /** Headers that are masked when they are shown. */
  readonly proofs: IncomingHttpHeaders;
}
