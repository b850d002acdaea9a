-- The process of the member, by the lock that it keeps (libs/storage, presence); null while it cannot show that it lives.
alter table signalbox.log_member add column presence integer;
