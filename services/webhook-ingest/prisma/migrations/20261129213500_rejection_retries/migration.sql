-- signalbox: expand
-- CreateTable
CREATE TABLE "rejection_retries" (
    "id" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "event_types" TEXT[],
    "reason" TEXT,
    "from_at" TIMESTAMPTZ(3) NOT NULL,
    "to_at" TIMESTAMPTZ(3) NOT NULL,
    "rate" INTEGER NOT NULL,
    "total" INTEGER NOT NULL,
    "received" INTEGER NOT NULL,
    "repeated" INTEGER NOT NULL,
    "refused" INTEGER NOT NULL,
    "position_at" TIMESTAMPTZ(3) NOT NULL,
    "position_id" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "rejection_retries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "rejection_retries_source_id_created_at_id_idx" ON "rejection_retries"("source_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "rejection_retries_status_due_at_idx" ON "rejection_retries"("status", "due_at");

-- AddForeignKey
ALTER TABLE "rejection_retries" ADD CONSTRAINT "rejection_retries_source_id_fkey" FOREIGN KEY ("source_id") REFERENCES "sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;
