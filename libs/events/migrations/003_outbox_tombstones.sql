-- A row without a payload is a tombstone: on a compacted topic it makes the log forget its key.
alter table signalbox.outbox alter column payload drop not null;
alter table signalbox.outbox_dead alter column payload drop not null;
