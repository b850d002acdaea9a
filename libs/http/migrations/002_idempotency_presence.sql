-- The process that holds the claim, by the lock that it keeps (libs/storage, presence); null where it could not show it.
alter table signalbox.idempotency add column presence integer;
