-- Only the first message of a key has a time; what waits behind it has none. So looking for what is due costs what is due,
-- however much waits.
update signalbox.parked set next_at = 'infinity'
where exists (
  select from signalbox.parked earlier
  where earlier.consumer = parked.consumer and earlier.key = parked.key and earlier.seq < parked.seq);
create index parked_due on signalbox.parked (consumer, next_at) where next_at < 'infinity';
-- A queue that drains leaves as many dead rows as it had messages: vacuum by count, or the next queue is read through them.
alter table signalbox.parked set (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);
-- Asked for every message, in a plan that is kept. One made while the table is empty would read all of it once it is full.
-- From the end, because a queue that drains leaves its dead rows at the front.
create function signalbox.is_parked(of_consumer text, of_key text) returns boolean
language plpgsql stable set enable_seqscan = off as $$
begin
  return exists (
    select from signalbox.parked where consumer = of_consumer and key = of_key order by seq desc limit 1);
end
$$;
