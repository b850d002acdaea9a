-- signalbox: expand
-- Events that are committed but not yet on the log. A row is written by the transaction that makes the event true and
-- deleted by the transaction that publishes it, so the table is nearly always empty.
create table signalbox.outbox (
  id bigint generated always as identity primary key,
  event_id uuid not null,
  -- hashtext(key) & 7: one relay at a time publishes a shard, so the events of a key leave in the order of their ids
  shard smallint not null,
  topic text not null,
  key text not null,
  -- the record's headers as JSON text: jsonb would refuse the escape of a NUL character
  headers text not null,
  -- the exact bytes to publish; null is a tombstone, by which a compacted topic forgets its key
  payload bytea,
  created_at timestamptz not null default clock_timestamp(),
  -- The place of the row on a topic: murmur2 of the key without its sign, modulo the partitions. While a partition has no
  -- broker, its rows are passed over and those of the others leave.
  key_hash integer
) with (
  -- Every row dies within moments: vacuum by count, not by share, and without pauses, or the index fills with the dead.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_vacuum_insert_threshold = -1
);
create index outbox_shard on signalbox.outbox (shard, id);

-- Events that the log refuses for good. They raise an alert; a person decides.
create table signalbox.outbox_dead (
  id bigint primary key,
  event_id uuid not null,
  topic text not null,
  key text not null,
  headers text not null,
  payload bytea,
  created_at timestamptz not null,
  reason text not null,
  moved_at timestamptz not null default clock_timestamp()
);

-- What a consumer has already done. Written in the transaction of the effect, so the effect happens once.
create table signalbox.inbox (
  consumer text not null,
  event_id uuid not null,
  received_at timestamptz not null default clock_timestamp(),
  primary key (consumer, event_id)
);
-- Rows arrive in the order of their time, so a few pages of BRIN find the old ones.
create index inbox_received_at on signalbox.inbox using brin (received_at) with (pages_per_range = 16, autosummarize = on);

-- Messages of keys that failed. The row with the lowest seq of a key is tried again; the others queue behind it.
create table signalbox.parked (
  seq bigint generated always as identity primary key,
  consumer text not null,
  key text not null,
  topic text not null,
  partition integer not null,
  "offset" bigint not null,
  timestamp_ms bigint not null,
  headers text not null,
  payload bytea,
  attempt integer not null default 0,
  next_at timestamptz not null default clock_timestamp(),
  reason text not null,
  parked_at timestamptz not null default clock_timestamp(),
  unique (consumer, topic, partition, "offset")
) with (
  -- A queue that drains leaves as many dead rows as it had messages: vacuum by count, or the next queue is read through them.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);
create index parked_key on signalbox.parked (consumer, key, seq);
-- Only the first message of a key has a time; what waits behind it has none. So looking for what is due costs what is due,
-- however much waits.
create index parked_due on signalbox.parked (consumer, next_at) where next_at < 'infinity';
-- Asked for every message, in a plan that is kept. One made while the table is empty would read all of it once it is full.
-- From the end, because a queue that drains leaves its dead rows at the front.
create function signalbox.is_parked(of_consumer text, of_key text) returns boolean
language plpgsql stable set enable_seqscan = off as $$
begin
  return exists (
    select from signalbox.parked where consumer = of_consumer and key = of_key order by seq desc limit 1);
end
$$;

-- Messages that a process has in hand, and how many processes have ended with them in hand. Written where a consumer goes
-- on after another: in steady work there is none.
create table signalbox.begun (
  consumer text not null,
  topic text not null,
  partition integer not null,
  "offset" bigint not null,
  -- Of the process that has it now.
  process uuid not null,
  deaths integer not null default 0,
  begun_at timestamptz not null default clock_timestamp(),
  primary key (consumer, topic, partition, "offset")
);
