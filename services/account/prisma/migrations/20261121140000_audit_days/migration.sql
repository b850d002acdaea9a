-- The audit in partitions of one UTC day. Ids are UUIDv7, whose first 48 bits are the milliseconds of `created_at`: a range of
-- ids is a range of time, the primary key stays, and a list by id runs through the days in order. The days live in the schema
-- of what Prisma does not describe; the default one takes what no day is there for, so that no write ever fails. Names are
-- written out, because a role that is named signalbox would look for tables in that schema first.
CREATE SCHEMA IF NOT EXISTS signalbox;

ALTER TABLE public."audit_entries" RENAME TO "audit_entries_before";
ALTER TABLE public."audit_entries_before" RENAME CONSTRAINT "audit_entries_pkey" TO "audit_entries_before_pkey";
ALTER INDEX public."audit_entries_account_id_id_idx" RENAME TO "audit_entries_before_account_id_id_idx";

CREATE TABLE public."audit_entries" (
    LIKE public."audit_entries_before" INCLUDING DEFAULTS,
    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
) PARTITION BY RANGE ("id");
CREATE INDEX "audit_entries_account_id_id_idx" ON public."audit_entries"("account_id", "id" DESC);
CREATE TABLE signalbox.audit_entries_default PARTITION OF public."audit_entries" DEFAULT;

-- Today, the week ahead, and every day that has entries.
DO $$
DECLARE
  day timestamp;
  first_id text := '%s-0000-0000-000000000000';
BEGIN
  FOR day IN
    SELECT date_trunc('day', "created_at" AT TIME ZONE 'UTC') FROM public."audit_entries_before"
    UNION
    SELECT date_trunc('day', now() AT TIME ZONE 'UTC') + ahead * interval '1 day' FROM generate_series(0, 7) AS ahead
  LOOP
    EXECUTE format(
      'CREATE TABLE signalbox.%I PARTITION OF public."audit_entries" FOR VALUES FROM (%L) TO (%L)',
      'audit_entries_' || to_char(day, 'YYYYMMDD'),
      format(first_id, overlay(lpad(to_hex((extract(epoch FROM day) * 1000)::bigint), 12, '0') placing '-' from 9 for 0)),
      format(first_id, overlay(lpad(to_hex((extract(epoch FROM day + interval '1 day') * 1000)::bigint), 12, '0') placing '-' from 9 for 0))
    );
  END LOOP;
END $$;

INSERT INTO public."audit_entries" SELECT * FROM public."audit_entries_before";
DROP TABLE public."audit_entries_before";
