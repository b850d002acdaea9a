-- signalbox: expand
-- Where on a topic a row belongs: murmur2 of the key without its sign, modulo the partitions. While a partition has no
-- broker, its rows are passed over and those of the others leave.
alter table signalbox.outbox add column key_hash integer;
