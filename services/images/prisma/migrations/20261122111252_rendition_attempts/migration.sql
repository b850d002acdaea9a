-- AlterTable
ALTER TABLE "renditions" ADD COLUMN     "attempted_at" TIMESTAMPTZ(3),
ADD COLUMN     "attempts" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "job_id" TEXT,
ADD COLUMN     "named" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- CreateIndex
CREATE INDEX "renditions_job_id_idx" ON "renditions"("job_id");
