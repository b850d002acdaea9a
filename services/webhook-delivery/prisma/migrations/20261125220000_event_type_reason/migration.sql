-- signalbox: expand
ALTER TABLE "event_types" ADD COLUMN     "enforcement_reason" TEXT;
