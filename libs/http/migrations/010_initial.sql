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
