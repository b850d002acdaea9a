-- signalbox: expand
-- The event log of an installation on one host, in a database of its own.
create table signalbox.log_topic (
  name text primary key,
  partitions integer not null,
  cleanup text not null check (cleanup in ('delete', 'compact')),
  retention_ms bigint not null,
  max_message_bytes integer not null
);

-- A row is locked by whoever appends to its partition, until the commit: the order of offsets is the order of commits.
create table signalbox.log_partition (
  id integer generated always as identity primary key,
  topic text not null references signalbox.log_topic (name) on delete cascade,
  partition integer not null,
  first_offset bigint not null default 0,
  next_offset bigint not null default 0,
  unique (topic, partition)
) with (fillfactor = 30, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

create table signalbox.log_record (
  partition_id integer not null references signalbox.log_partition (id) on delete cascade,
  "offset" bigint not null,
  key bytea not null,
  -- JSON text: jsonb would refuse the escape of a NUL character
  headers text not null,
  -- null is a tombstone
  value bytea,
  timestamp_ms bigint not null,
  primary key (partition_id, "offset")
);

create table signalbox.log_group (
  name text primary key
);

create table signalbox.log_member (
  group_name text not null references signalbox.log_group (name) on delete cascade,
  member text not null,
  topics text[] not null,
  expires_at timestamptz not null,
  -- The process of the member, by the lock that it keeps (libs/storage, presence); null while it cannot show that it lives.
  presence integer,
  primary key (group_name, member)
);

-- Who reads a partition for a group, and how far the group has come. The epoch rises with each change of owner, and a
-- commit has to name it: a member that was taken for dead cannot set the group back.
create table signalbox.log_lease (
  group_name text not null references signalbox.log_group (name) on delete cascade,
  partition_id integer not null references signalbox.log_partition (id) on delete cascade,
  owner text,
  epoch bigint not null default 0,
  committed bigint,
  primary key (group_name, partition_id)
) with (fillfactor = 50);

-- Appends records in the given order. Keys, headers and values lie one after the other in `content`; `starts` counts
-- from 1, and a value of length -1 is a tombstone. One call is one round trip, and locks are taken in ascending order.
create function signalbox.log_append(
  partition_ids integer[], starts integer[], key_lengths integer[], header_lengths integer[], value_lengths integer[],
  content bytea
) returns void language plpgsql as $$
begin
  perform 1 from signalbox.log_partition where id = any (partition_ids) order by id for update;

  insert into signalbox.log_record (partition_id, "offset", key, headers, value, timestamp_ms)
  select item.partition_id, log_partition.next_offset + item.place,
    substring(content from item.start for item.key_length),
    convert_from(substring(content from item.start + item.key_length for item.header_length), 'UTF8'),
    case when item.value_length >= 0
      then substring(content from item.start + item.key_length + item.header_length for item.value_length) end,
    (extract(epoch from clock_timestamp()) * 1000)::bigint
  from (
    select partition_id, start, key_length, header_length, value_length,
      row_number() over (partition by partition_id order by ordinal) - 1 as place
    from unnest(partition_ids, starts, key_lengths, header_lengths, value_lengths) with ordinality
      as given (partition_id, start, key_length, header_length, value_length, ordinal)
  ) item join signalbox.log_partition on log_partition.id = item.partition_id;

  update signalbox.log_partition set next_offset = next_offset + added.records
  from (select partition_id, count(*) as records from unnest(partition_ids) as partition_id group by 1) added
  where log_partition.id = added.partition_id;
end $$;
