-- signalbox: expand
-- AlterTable
ALTER TABLE "received_deliveries" ADD COLUMN     "last_repeated_at" TIMESTAMPTZ(3),
ADD COLUMN     "repeated" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "received_repetitions" (
    "request_id" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "received_id" TEXT NOT NULL,
    "repeated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "received_repetitions_pkey" PRIMARY KEY ("request_id","source_id")
);

-- CreateIndex
CREATE INDEX "received_repetitions_repeated_at_idx" ON "received_repetitions" USING BRIN ("repeated_at");
