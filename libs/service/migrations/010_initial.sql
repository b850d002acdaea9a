-- signalbox: expand
-- Statistics by subject and period, for services that count. Rows of a few kilobytes stay in their place, uncompressed: a read wants
-- hundreds of them.
create table signalbox.statistics (
  subject_id text not null,
  -- Length in minutes: 1, 15, 60 or 1440.
  period smallint not null,
  at timestamptz(3) not null,
  -- JSON: each combination of labels.
  labels text not null,
  -- The counts and histograms of each, in LEB128.
  figures bytea not null,
  -- True once they are part of the next longer period.
  rolled boolean not null,
  primary key (subject_id, period, at)
) with (fillfactor = 70, toast_tuple_target = 8160);

-- Partial: a few rows of each subject, those of the last minutes.
create index statistics_unrolled on signalbox.statistics (subject_id, at) where not rolled;
create index statistics_at on signalbox.statistics using brin (at);

-- No index: what is counted appends to it in the transaction of the thing itself, and a worker empties it. Vacuum by count, or its pages
-- are never used again. A batch of two or three kilobytes stays as it is: to compress it would cost more than to write it.
create table signalbox.fresh_statistics (
  batch text not null,
  -- The places of the entries that count; null for all.
  counted integer[]
) with (
  toast_tuple_target = 8160,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);
