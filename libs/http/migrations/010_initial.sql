-- signalbox: expand
-- One row per Idempotency-Key of an account: claimed before the effect, completed in its transaction.
create table signalbox.idempotency (
  account_id text not null,
  key text not null,
  fingerprint bytea not null,
  -- The attempt that holds the claim; a later one takes over only when the claim has ended without an answer.
  owner uuid not null,
  claimed_until timestamptz not null,
  -- Null while the request is under way.
  status integer,
  headers jsonb,
  -- JSON text, or a sealed text where the answer shows a secret.
  body text,
  sealed boolean not null default false,
  expires_at timestamptz not null,
  -- The process that holds the claim, by the lock that it keeps (libs/storage, presence); null where it could not show it.
  presence integer,
  primary key (account_id, key)
);

create index idempotency_expires_at on signalbox.idempotency (expires_at);

-- Calls of known accounts that were refused: what somebody who has only the X-Request-Id of an answer can be told. Kept for a day, without
-- anything of the request but its route.
create table signalbox.refused_request (
  account_id text not null,
  request_id text not null,
  credential text not null,
  operation text not null,
  status integer not null,
  code text not null,
  refused_at timestamptz not null,
  trace_id text
);

create index refused_request_id on signalbox.refused_request (account_id, request_id);
create index refused_trace_id on signalbox.refused_request (account_id, trace_id) where trace_id is not null;
create index refused_request_at on signalbox.refused_request (refused_at);
