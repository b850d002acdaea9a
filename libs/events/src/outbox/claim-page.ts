import { KiB } from "@signalbox/core";
import { sql, type Tx } from "@signalbox/storage";
import type { OutboxRow } from "./outbox-row.ts";

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
       where outbox.shard = wanted.shard and topic <> all ($2) order by id limit $3
     ) waiting
     order by waiting.id limit $3
   ), sized as (
     select id, row_number() over by_id as place, sum(bytes) over by_id as total from page window by_id as (order by id)
   )
   delete from signalbox.outbox using sized
   where outbox.id = sized.id and (sized.place = 1 or sized.total <= $4)
   returning outbox.id, outbox.event_id, topic, key, headers, payload, created_at`,
);

/**
 * Takes the next page of the shards, oldest first, out of the table: for good when the transaction commits. Waits at most a
 * second for a relay that holds one of them, because a writer that has just committed wants its event out now; then the
 * database refuses with 55P03. Shards are locked in the given order: ascending, or two relays could wait for each other.
 */
export async function claimPage(
  tx: Tx,
  shards: readonly number[],
  topicsToSkip: readonly string[],
): Promise<OutboxRow[]> {
  await tx.query(lockWaiting, [lockSpace, shards]);
  const { rows } = await tx.query<OutboxRow>(claim, [shards, topicsToSkip, pageRowsMax, pageBytesMax]);
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}
