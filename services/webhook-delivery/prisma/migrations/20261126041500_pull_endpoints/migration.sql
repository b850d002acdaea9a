-- signalbox: expand
ALTER TABLE "endpoints" ADD COLUMN "type" TEXT NOT NULL DEFAULT 'push';
ALTER TABLE "endpoints" ADD COLUMN "consumer_of" TEXT;
ALTER TABLE "endpoints" ADD COLUMN "ends_at" TIMESTAMPTZ(3);
CREATE INDEX "endpoints_consumer_of_idx" ON "endpoints"("consumer_of") WHERE "consumer_of" IS NOT NULL;
CREATE INDEX "endpoints_ends_at_idx" ON "endpoints"("ends_at") WHERE "ends_at" IS NOT NULL;

-- Only deliveries in the hands of a consumer are in these indexes.
ALTER TABLE "delivery_queue" ADD COLUMN "lease_id" TEXT;
CREATE UNIQUE INDEX "delivery_queue_lease_idx" ON "delivery_queue"("endpoint_id", "lease_id") WHERE "lease_id" IS NOT NULL;
CREATE INDEX "delivery_queue_lease_end_idx" ON "delivery_queue"("due_at") WHERE "lease_id" IS NOT NULL;

CREATE TABLE "pull_consumers" (
    "endpoint_id" TEXT NOT NULL,
    "start" TEXT NOT NULL,
    "from_time" TIMESTAMPTZ(3) NOT NULL,
    "place_time" TIMESTAMPTZ(3) NOT NULL,
    "place_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "filled_at" TIMESTAMPTZ(3),

    CONSTRAINT "pull_consumers_pkey" PRIMARY KEY ("endpoint_id")
);
CREATE INDEX "pull_consumers_unfilled_idx" ON "pull_consumers"("endpoint_id") WHERE "filled_at" IS NULL;
