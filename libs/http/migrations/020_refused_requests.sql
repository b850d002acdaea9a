-- signalbox: expand
-- Calls of known accounts that were refused: what somebody who has only the X-Request-Id of an answer can be told. Kept for a day, without
-- anything of the request but its route.
create table signalbox.refused_request (
  account_id text not null,
  request_id text not null,
  credential text not null,
  operation text not null,
  status integer not null,
  code text not null,
  refused_at timestamptz not null
);

create index refused_request_id on signalbox.refused_request (account_id, request_id);
create index refused_request_at on signalbox.refused_request (refused_at);
