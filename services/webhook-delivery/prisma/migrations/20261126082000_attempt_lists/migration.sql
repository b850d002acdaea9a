-- signalbox: expand
ALTER TABLE "delivery_attempts" ADD COLUMN "event_type" TEXT;
-- Lists of failures skip the successes, which are most attempts.
CREATE INDEX "delivery_attempts_failed_idx" ON "delivery_attempts"("endpoint_id", "started_at", "id")
  WHERE "status" IS NULL OR "status" < 200 OR "status" > 299;
