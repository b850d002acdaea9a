-- CreateTable
CREATE TABLE "sources" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "scheme" TEXT NOT NULL,
    "sealed_secret" TEXT NOT NULL,
    "event_types" JSONB,
    "status" TEXT NOT NULL,
    "forward" BOOLEAN NOT NULL,
    "settings" JSONB NOT NULL,
    "revision" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sources_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "received_deliveries" (
    "id" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "delivery_id" TEXT NOT NULL,
    "event_type" TEXT,
    "content_type" TEXT,
    "body" BYTEA NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "received_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "rejections" (
    "id" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "body_bytes" INTEGER NOT NULL,
    "address" TEXT NOT NULL,
    "rejected_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "rejections_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "sources_account_id_created_at_id_idx" ON "sources"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "received_deliveries_source_id_received_at_id_idx" ON "received_deliveries"("source_id", "received_at", "id");

-- CreateIndex
CREATE INDEX "received_deliveries_received_at_idx" ON "received_deliveries" USING BRIN ("received_at");

-- CreateIndex
CREATE UNIQUE INDEX "received_deliveries_source_id_delivery_id_key" ON "received_deliveries"("source_id", "delivery_id");

-- CreateIndex
CREATE INDEX "rejections_source_id_rejected_at_id_idx" ON "rejections"("source_id", "rejected_at", "id");

-- AddForeignKey
ALTER TABLE "received_deliveries" ADD CONSTRAINT "received_deliveries_source_id_fkey" FOREIGN KEY ("source_id") REFERENCES "sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rejections" ADD CONSTRAINT "rejections_source_id_fkey" FOREIGN KEY ("source_id") REFERENCES "sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;
