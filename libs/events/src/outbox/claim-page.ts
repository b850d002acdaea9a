import { KiB } from "@signalbox/core";
import { sql, sqlRows, type Tx } from "@signalbox/storage";
import { keyHash } from "../log/partition-of.ts";
import type { BlockedTopics } from "./blocked-topics.ts";
import type { OutboxRow } from "./publish-page.ts";

/** A page is one publish: large enough to fill a compressed Kafka batch, small enough to be acknowledged quickly. */
export const pageRowsMax = 500;
export const pageBytesMax = 512 * KiB;

/** The namespace of our advisory locks; the second number is the shard. */
const lockSpace = 4201;

const lockWaiting = sql(
  "outbox.lock-waiting",
  `select set_config('lock_timeout', '1000', true), pg_advisory_xact_lock($1, shard)
   from unnest($2::int[]) as shard`,
);
const claim = sql(
  "outbox.claim",
  `with page as (
     select waiting.id, waiting.bytes from unnest($1::int[]) as wanted (shard)
     cross join lateral (
       select id, coalesce(octet_length(payload), 0) as bytes from signalbox.outbox
       where outbox.shard = wanted.shard and topic <> all ($2) and not exists (
         select from unnest($5::text[], $6::int[], $7::int[]) as at_fault (topic, partition, partitions)
         where at_fault.topic = outbox.topic and outbox.key_hash % at_fault.partitions = at_fault.partition
         offset 0) -- keeps it a condition of each row: as a join it could be made to read the whole table
       order by id limit $3
     ) waiting
     order by waiting.id limit $3
   ), sized as (
     select id, row_number() over by_id as place, sum(bytes) over by_id as total from page window by_id as (order by id)
   )
   delete from signalbox.outbox using sized
   where outbox.id = sized.id and (sized.place = 1 or sized.total <= $4)
   returning outbox.id, outbox.event_id, topic, key, headers, payload, created_at`,
);
const putBack = sqlRows(
  "outbox.put-back",
  "($1::bigint, $2::uuid, hashtext($4::text) & 7, $3::text, $4::text, $5::text, $6::bytea, $7::timestamptz, $8::int)",
  (rows) =>
    `insert into signalbox.outbox (id, event_id, shard, topic, key, headers, payload, created_at, key_hash)
     overriding system value ${rows}`,
);

/**
 * Takes the next page of the shards, oldest first, out of the table: for good when the transaction commits. Waits at
 * most a second for a relay that holds one of them, because a writer that has just committed wants its event out now;
 * then the database refuses with 55P03. Blocked topics and partitions are skipped. Shards are locked in the given
 * order: ascending, or two relays could wait for each other.
 */
export async function claimPage(
  tx: Tx,
  shards: readonly number[],
  blocked: Pick<BlockedTopics, "topics" | "partitions">,
): Promise<OutboxRow[]> {
  await tx.query(lockWaiting, [lockSpace, shards]);
  const places = blocked.partitions();
  const columns = [
    places.map((one) => one.topic),
    places.map((one) => one.partition),
    places.map((one) => one.partitions),
  ];
  const limits = [pageRowsMax, pageBytesMax];
  const { rows } = await tx.query<OutboxRow>(claim, [shards, blocked.topics(), ...limits, ...columns]);
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Puts rows of the page back: they stay in the outbox. */
export async function putBackRows(tx: Tx, rows: readonly OutboxRow[]): Promise<void> {
  if (rows.length === 0) return;
  const values = rows.flatMap(({ id, event_id, topic, key, headers, payload, created_at }) => [
    ...[id, event_id, topic, key, headers, payload, created_at],
    keyHash(key),
  ]);
  await tx.query(putBack.ofRows(rows.length), values);
}
