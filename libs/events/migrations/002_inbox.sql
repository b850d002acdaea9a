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
);
create index parked_key on signalbox.parked (consumer, key, seq);
