-- signalbox: expand
ALTER TABLE "audit_entries" ADD COLUMN "trace_id" TEXT;
