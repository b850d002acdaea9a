-- signalbox: expand
-- AlterTable
ALTER TABLE "received_deliveries" ADD COLUMN     "origin" TEXT;

-- AlterTable
ALTER TABLE "sources" ADD COLUMN     "sealed_sender_key" TEXT,
ADD COLUMN     "sender_key" JSONB;

-- CreateTable
CREATE TABLE "reconciliation_schedules" (
    "source_id" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "trigger" TEXT NOT NULL,
    "outage_id" TEXT,
    "covered_to" TIMESTAMPTZ(3) NOT NULL,
    "run_id" TEXT,
    "lease_id" TEXT,
    "lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "reconciliation_schedules_pkey" PRIMARY KEY ("source_id")
);

-- CreateTable
CREATE TABLE "reconciliations" (
    "id" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "trigger" TEXT NOT NULL,
    "outage_id" TEXT,
    "dry_run" BOOLEAN NOT NULL,
    "status" TEXT NOT NULL,
    "reason" TEXT,
    "from_at" TIMESTAMPTZ(3) NOT NULL,
    "to_at" TIMESTAMPTZ(3) NOT NULL,
    "position" TEXT,
    "is_listed" BOOLEAN NOT NULL,
    "listed" INTEGER NOT NULL,
    "missed" INTEGER NOT NULL,
    "recovered" INTEGER NOT NULL,
    "missed_from" TIMESTAMPTZ(3),
    "missed_to" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "reconciliations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "missed_webhooks" (
    "source_id" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "run_id" TEXT NOT NULL,
    "reference" TEXT NOT NULL,
    "sent_at" TIMESTAMPTZ(3) NOT NULL,
    "state" TEXT NOT NULL,
    "reason" TEXT,
    "asks" INTEGER NOT NULL,
    "asked_at" TIMESTAMPTZ(3),

    CONSTRAINT "missed_webhooks_pkey" PRIMARY KEY ("source_id","digest")
);

-- CreateTable
CREATE TABLE "heartbeats" (
    "id" TEXT NOT NULL,
    "beat_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "heartbeats_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "outages" (
    "id" TEXT NOT NULL,
    "from_at" TIMESTAMPTZ(3) NOT NULL,
    "to_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "outages_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "reconciliation_schedules_due_at_idx" ON "reconciliation_schedules"("due_at");

-- CreateIndex
CREATE INDEX "reconciliations_source_id_created_at_id_idx" ON "reconciliations"("source_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "reconciliations_outage_id_account_id_idx" ON "reconciliations"("outage_id", "account_id");

-- CreateIndex
CREATE INDEX "missed_webhooks_run_id_state_sent_at_idx" ON "missed_webhooks"("run_id", "state", "sent_at");

-- CreateIndex
CREATE INDEX "outages_created_at_id_idx" ON "outages"("created_at", "id");

-- AddForeignKey
ALTER TABLE "reconciliation_schedules" ADD CONSTRAINT "reconciliation_schedules_source_id_fkey" FOREIGN KEY ("source_id") REFERENCES "sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "reconciliations" ADD CONSTRAINT "reconciliations_source_id_fkey" FOREIGN KEY ("source_id") REFERENCES "sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "missed_webhooks" ADD CONSTRAINT "missed_webhooks_source_id_fkey" FOREIGN KEY ("source_id") REFERENCES "sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;
