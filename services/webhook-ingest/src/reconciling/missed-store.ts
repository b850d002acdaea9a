import { type Queryable, sql } from "@signalbox/storage";
import type { IngestService } from "../context/ingest-service.ts";
import type { MissedWebhook as Row } from "../generated/prisma/client.ts";
import { idKeyOf } from "../received/dedupe-keys.ts";
import type { Origin, ReceivedWebhook } from "../received/received-webhook.ts";
import { readable, type SenderName } from "../sources/sender-key.ts";
import type { Reconciliation } from "./reconciliation.ts";

/** A missed webhook with the requests to send it again. */
export interface MissedWebhook extends Omit<Row, "sourceId" | "digest" | "runId" | "state" | "reason"> {
  readonly digest: Buffer;
}

type FoundMissing = Omit<MissedWebhook, "asks" | "askedAt">;

/** `fetch` it from the sender, `ask` the sender to send it, `asked`; `failed`: the next run tries again. */
type MissedState = "fetch" | "ask" | "asked" | "failed";

/** Asks for one webhook, over all runs: a sender cannot deliver what the source refuses. */
const asksMax = 3;

const unreceived = sql(
  "missed.unreceived",
  `select digest from unnest($2::bytea[]) as given (digest) where not exists (
     select from received_keys as k where k.source_id = $1 and k.digest = given.digest)`,
);
/** One that a former run has not recovered counts again, as long as it may be asked for. */
const add = sql(
  "missed.add",
  `with given as (
     select * from unnest($3::bytea[], $4::text[], $5::timestamptz[]) as given (digest, reference, sent_at)
   ), fresh as (
     insert into missed_webhooks as m (source_id, digest, run_id, reference, sent_at, state, asks)
     select $1, digest, $2, reference, sent_at, 'fetch', 0 from given order by digest
     on conflict (source_id, digest) do update set run_id = $2, reference = excluded.reference, state = 'fetch', reason = null
       where m.run_id <> $2 and m.asks < ${asksMax}
     returning sent_at
   )
   update reconciliations set missed = missed + (select count(*) from fresh),
     missed_from = least(missed_from, (select min(sent_at) from fresh)),
     missed_to = greatest(missed_to, (select max(sent_at) from fresh))
   where id = $2`,
);
/** The row is deleted and counted at once, so that a repeated step counts nothing twice. */
const settle = sql(
  "missed.settle",
  `with gone as (
     delete from missed_webhooks as m where m.source_id = $1 and m.run_id = $2 and (m.digest = any($3::bytea[])
       or (m.state = 'asked' or $4) and exists (
         select from received_keys as k where k.source_id = m.source_id and k.digest = m.digest))
     returning 1
   ), counted as (
     update reconciliations set recovered = recovered + (select count(*) from gone)
     where id = $2 and exists (select from gone)
   )
   select count(*)::int as count from gone`,
);
const next = sql(
  "missed.next",
  `select digest, reference, sent_at as "sentAt", asks, asked_at as "askedAt" from missed_webhooks
   where run_id = $1 and state = $2 order by sent_at, digest limit $3`,
);
const hasMore = sql("missed.has-more", `select from missed_webhooks where run_id = $1 and asks < ${asksMax} limit 1`);
const mark = sql("missed.mark", "update missed_webhooks set state = $3 where source_id = $1 and digest = $2");
const fail = sql(
  "missed.fail",
  `update missed_webhooks set state = 'failed', reason = $3, asks = ${asksMax} where source_id = $1 and digest = $2`,
);
const ask = sql(
  "missed.ask",
  `update missed_webhooks set state = 'asked', asks = asks + 1, asked_at = $3 where source_id = $1 and digest = $2`,
);
const giveUpAsked = sql(
  "missed.give-up-asked",
  `update missed_webhooks set state = 'failed', reason = 'not_sent_again' where run_id = $1 and state = 'asked'`,
);
const forget = sql(
  "missed.forget",
  `delete from missed_webhooks as m where source_id = $1 and run_id <> $2 and (sent_at < $3 or exists (
     select from received_keys as k where k.source_id = m.source_id and k.digest = m.digest))`,
);
const isAsked = sql(
  "missed.is-asked",
  "select from missed_webhooks where source_id = $1 and digest = $2 and asked_at is not null",
);

/** Returns the keys of delivery ids that the source has not received, in hexadecimal. */
export async function unreceivedOf(db: Queryable, sourceId: string, digests: readonly Buffer[]) {
  const { rows } = await db.query<{ digest: Buffer }>(unreceived, [sourceId, digests]);
  return new Set(rows.map(({ digest }) => digest.toString("hex")));
}

/** Adds what a run found missing, and counts it, once however often it is added. */
export async function addMissed(db: Queryable, sourceId: string, runId: string, missed: readonly FoundMissing[]) {
  if (missed.length === 0) return;
  const columns = [missed.map(({ digest }) => digest), missed.map(({ reference }) => reference)];
  await db.query(add, [sourceId, runId, ...columns, missed.map(({ sentAt }) => sentAt)]);
}

/** Counts as recovered what was received: the given ones and those asked for, or `all` that were missing. */
export async function settleMissed(
  { pool, metrics }: IngestService,
  { id, sourceId }: Reconciliation,
  sender: SenderName,
  received: readonly Buffer[] | "all" = [],
): Promise<void> {
  const isAll = received === "all";
  const { rows } = await pool.query<{ count: number }>(settle, [sourceId, id, isAll ? [] : received, isAll]);
  const count = rows[0]?.count ?? 0;
  if (count > 0) metrics.counter("signalbox_webhooks_missed_total").inc({ sender, outcome: "recovered" }, count);
}

/** Forgets what former runs have not recovered: once it is received after all, or the sender lists it no more. */
export const forgetMissed = (db: Queryable, sourceId: string, runId: string, before: Date) =>
  db.query(forget, [sourceId, runId, before]);

export const nextMissed = async (db: Queryable, runId: string, state: MissedState, limit: number) =>
  (await db.query<MissedWebhook>(next, [runId, state, limit])).rows;

/** Returns true when another run may recover what this one has not. */
export const hasMoreMissed = async (db: Queryable, runId: string): Promise<boolean> =>
  (await db.query(hasMore, [runId])).rowCount === 1;

export const markMissed = (db: Queryable, sourceId: string, digest: Buffer, state: "fetch" | "ask") =>
  db.query(mark, [sourceId, digest, state]);

/** Notes that a webhook cannot be recovered by any run. */
export const failMissed = (db: Queryable, sourceId: string, digest: Buffer, reason: string) =>
  db.query(fail, [sourceId, digest, reason]);

/** Notes that the sender is about to be asked, before it can send. */
export const noteAskedMissed = (db: Queryable, sourceId: string, digest: Buffer, at: Date) =>
  db.query(ask, [sourceId, digest, at]);

export const giveUpAskedMissed = (db: Queryable, runId: string) => db.query(giveUpAsked, [runId]);

/** Returns `reconciled` for a webhook that the sender was asked to send again. Few senders have to be asked. */
export async function originOf({ pool }: IngestService, { source, deliveryId }: ReceivedWebhook): Promise<Origin> {
  const { senderKey } = source;
  if (senderKey === null || readable[senderKey.sender].place === "key") return "pushed";
  return (await pool.query(isAsked, [source.id, idKeyOf(deliveryId.value)])).rowCount === 1 ? "reconciled" : "pushed";
}
