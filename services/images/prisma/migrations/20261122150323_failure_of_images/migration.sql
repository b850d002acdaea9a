-- signalbox: expand
-- AlterTable
ALTER TABLE "images" ADD COLUMN     "dominant_color" TEXT,
ADD COLUMN     "failed_at" TIMESTAMPTZ(3),
ADD COLUMN     "failure_code" TEXT;
