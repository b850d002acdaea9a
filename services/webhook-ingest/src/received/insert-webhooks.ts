import { outboxInsert, type PreparedEvent } from "@signalbox/events";
import { freshBatch } from "@signalbox/service";
import { type BinaryColumn, binaryColumnsOf, type Queryable, sql } from "@signalbox/storage";
import type { ReceivedKey } from "../generated/prisma/client.ts";
import type { DedupeKeys } from "./dedupe-keys.ts";
import { acceptedEntry, type ReceivedWebhook } from "./received-webhook.ts";

export interface WebhookIdentity {
  readonly deliveryId: string;
  readonly keys: DedupeKeys;
  /** Id of the earlier webhook with the same signed content. */
  readonly sameContentAs: string | null;
}

export interface WebhookWrite extends WebhookIdentity {
  readonly webhook: ReceivedWebhook;
  readonly event: PreparedEvent;
}

/** The key of an earlier webhook; `receivedAt` is its arrival where the key is that of signed content. */
export type KnownKey = Omit<ReceivedKey, "sourceId">;

/** `repeated`: its id exists with the same content. `known`: one of its keys belongs to another webhook. */
export type InsertOutcome =
  | { readonly outcome: "new" | "known" | "stale" }
  | { readonly outcome: "repeated"; readonly receivedId: string };

const keyColumns = "source_id, digest, content, received_id, received_at";

/**
 * Stores webhooks with their keys and events. The keys of signed content come first, then those of the ids in their
 * order, so that two batches never deadlock. Webhooks of a source that was changed or is being removed are not
 * stored, without waiting for its lock. The new ones count in the statistics of their sources.
 */
const insert = sql(
  "delivery.insert",
  `with given as (
     select * from unnest($1::text[], $2::text[], $3::int4[], $4::bytea[], $5::bytea[], $6::bytea[], $7::text[], $8::bool[],
         $9::text[], $10::bool[], $11::text[], $12::text[], $13::bool[], $14::text[], $15::bytea[], $16::bool[], $17::timestamptz[],
         $18::text[], $19::text[], $20::text[], $21::text[], $22::bytea[], $23::int4[], $24::text[], $25::timestamptz[])
       with ordinality as given (id, source_id, revision, id_key, signed_key, content, delivery_id, is_id_signed, event_type,
         is_type_signed, content_type, same_content_as, forwarded, headers, body, body_decoded, received_at,
         event_id, topic, key, event_headers, payload, key_hash, origin, arrived_at, nth)
   ), live as (
     select given.* from given join sources on sources.id = given.source_id and sources.revision = given.revision
     for key share of sources skip locked
   ), fresh_signed as (
     insert into received_keys (${keyColumns})
     select source_id, signed_key, content, id, arrived_at from live where signed_key is not null order by source_id, signed_key
     on conflict do nothing returning received_id
   ), fresh as (
     insert into received_keys (${keyColumns})
     select source_id, id_key, content, id, received_at from live
     where signed_key is null or id in (select received_id from fresh_signed) order by source_id, id_key
     on conflict do nothing returning received_id
   ), new as (
     select live.* from live join fresh on fresh.received_id = live.id
   ), stored as (
     insert into received_deliveries (id, source_id, delivery_id, is_id_signed, event_type, is_type_signed, content_type, same_content_as,
  forwarded, headers, body, body_decoded, received_at, origin)
     select id, source_id, delivery_id, is_id_signed, event_type, is_type_signed, content_type, same_content_as, forwarded,
       headers::jsonb, body, body_decoded, received_at, origin from new
   ), figures as (
     insert into signalbox.fresh_statistics (batch, counted)
     select $26::text, case when (select count(*) from new) < cardinality($1::text[]) then array(select nth::int from new) end
     where exists (select from new)
   ), published as (
     ${outboxInsert("select event_id::uuid, topic, key, event_headers as headers, payload, key_hash from new order by nth")}
   )
   select given.id, case when live.id is null then 'stale' when fresh.received_id is not null then 'new'
       when same.received_id is not null then 'repeated'
       else 'known' end as outcome,
     same.received_id as "receivedId", (select array_agg(distinct shard) from published) as shards
   from given left join live on live.id = given.id left join fresh on fresh.received_id = given.id
     left join received_keys as same on fresh.received_id is null and same.source_id = given.source_id
       and same.digest = given.id_key and same.content = given.content`,
);

const findKeys = sql(
  "delivery.find-keys",
  `select digest, content, received_id as "receivedId", received_at as "receivedAt"
   from received_keys where source_id = $1 and digest = any($2::bytea[])`,
);

const renewKey = sql(
  "delivery.renew-key",
  `update received_keys set received_id = $3, received_at = $4
   where source_id = $1 and digest = $2 and received_id = $5 and received_at = $6`,
);

/** Stores the webhooks; returns the outcome of each, and the shards of the new events. */
export async function insertWebhooks(db: Queryable, writes: readonly WebhookWrite[]) {
  const { rows } = await db.query<InsertOutcome & { id: string; shards: number[] | null }>(insert, [
    ...binaryColumnsOf(writes, columnsOfGiven),
    freshBatch(writes.map(({ webhook }) => acceptedEntry(webhook))),
  ]);
  return { outcomes: new Map(rows.map((row) => [row.id, row])), shards: rows[0]?.shards ?? [] };
}

export async function findDedupeKeys(db: Queryable, { webhook: { source }, keys: { id, signed } }: WebhookWrite) {
  return (await db.query<KnownKey>(findKeys, [source.id, signed ? [id, signed] : [id]])).rows;
}

/** Moves a key of signed content to a later webhook. Returns false when another webhook was faster. */
export async function renewDedupeKey(db: Queryable, { id, source, arrivedAt }: ReceivedWebhook, key: KnownKey) {
  const values = [source.id, key.digest, id, arrivedAt, key.receivedId, key.receivedAt];
  return (await db.query(renewKey, values)).rowCount === 1;
}

const columnsOfGiven: readonly BinaryColumn<WebhookWrite>[] = [
  ["text", ({ webhook }) => webhook.id],
  ["text", ({ webhook }) => webhook.source.id],
  ["int4", ({ webhook }) => webhook.source.revision],
  ["bytea", ({ keys }) => keys.id],
  ["bytea", ({ keys }) => keys.signed],
  ["bytea", ({ keys }) => keys.content],
  ["text", ({ deliveryId }) => deliveryId],
  // Digits of the content behind an id are signed by nobody.
  ["bool", ({ webhook: { deliveryId: own }, deliveryId }) => own.signed && own.value === deliveryId],
  ["text", ({ webhook }) => webhook.eventType?.value ?? null],
  ["bool", ({ webhook }) => webhook.eventType?.signed ?? false],
  ["text", ({ webhook }) => webhook.contentType],
  ["text", ({ sameContentAs }) => sameContentAs],
  ["bool", ({ webhook }) => webhook.source.forward],
  ["text", ({ webhook }) => JSON.stringify(webhook.headers)],
  ["bytea", ({ webhook }) => webhook.body],
  ["bool", ({ webhook }) => webhook.source.settings.signatureOver === "decoded"],
  ["timestamptz", ({ webhook }) => webhook.receivedAt],
  ["text", ({ event }) => event.eventId],
  ["text", ({ event }) => event.topic],
  ["text", ({ event }) => event.key],
  ["text", ({ event }) => event.headers],
  ["bytea", ({ event }) => event.payload],
  ["int4", ({ event }) => event.keyHash],
  ["text", ({ webhook }) => webhook.origin],
  ["timestamptz", ({ webhook }) => webhook.arrivedAt],
];
