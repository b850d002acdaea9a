-- signalbox: expand
alter table signalbox.refused_request add column trace_id text;
create index refused_trace_id on signalbox.refused_request (account_id, trace_id) where trace_id is not null;
