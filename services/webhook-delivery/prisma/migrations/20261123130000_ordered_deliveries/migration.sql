-- signalbox: expand
CREATE TABLE "delivery_order" (
    "endpoint_id" TEXT NOT NULL,
    "order_key" TEXT NOT NULL,
    "last_sequence" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "delivery_order_pkey" PRIMARY KEY ("endpoint_id", "order_key")
);
CREATE INDEX "delivery_order_updated_at_idx" ON "delivery_order"("updated_at");

ALTER TABLE "deliveries"
    ADD COLUMN "order_key" TEXT,
    ADD COLUMN "sequence" BIGINT;

ALTER TABLE "delivery_queue"
    ADD COLUMN "order_key" TEXT,
    ADD COLUMN "sequence" BIGINT,
    ADD COLUMN "hold_until" TIMESTAMPTZ(3);
-- Partial: deliveries without an order, which are most, stay out of both.
CREATE INDEX "delivery_queue_order_idx" ON "delivery_queue"("endpoint_id", "order_key", "sequence") WHERE "order_key" IS NOT NULL;
CREATE INDEX "delivery_queue_hold_until_idx" ON "delivery_queue"("hold_until") WHERE "hold_until" IS NOT NULL;
