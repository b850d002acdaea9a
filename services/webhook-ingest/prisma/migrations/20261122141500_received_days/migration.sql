-- signalbox: contract
-- The version before deletes rows by their place, which in a partitioned table names one row of every day.
CREATE SCHEMA IF NOT EXISTS "signalbox";
ALTER TABLE "received_deliveries" RENAME TO "received_deliveries_default";
ALTER TABLE "received_deliveries_default" SET SCHEMA "signalbox";
ALTER TABLE "signalbox"."received_deliveries_default" DROP CONSTRAINT "received_deliveries_pkey";
DROP INDEX "signalbox"."received_deliveries_source_id_received_at_id_idx";
DROP INDEX "signalbox"."received_deliveries_received_at_idx";
ALTER TABLE "signalbox"."received_deliveries_default" ADD COLUMN "body_decoded" BOOLEAN NOT NULL DEFAULT false;

-- A worker makes the tables of the days, and moves what was received before into them.
CREATE TABLE "received_deliveries" (
    LIKE "signalbox"."received_deliveries_default" INCLUDING DEFAULTS,
    CONSTRAINT "received_deliveries_pkey" PRIMARY KEY ("source_id", "received_at", "id")
) PARTITION BY RANGE ("received_at");
ALTER TABLE "received_deliveries" ATTACH PARTITION "signalbox"."received_deliveries_default" DEFAULT;
