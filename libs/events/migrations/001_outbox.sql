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
  -- the exact bytes to publish
  payload bytea not null,
  created_at timestamptz not null default clock_timestamp()
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
  payload bytea not null,
  created_at timestamptz not null,
  reason text not null,
  moved_at timestamptz not null default clock_timestamp()
);
