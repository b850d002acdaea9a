-- signalbox: expand
ALTER TABLE "rejections" ADD COLUMN "figures" JSONB;
CREATE INDEX "rejections_source_id_reason_rejected_at_id_idx" ON "rejections"("source_id", "reason", "rejected_at", "id");
