-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "end_told_at" TIMESTAMPTZ(3),
ADD COLUMN     "replaced_by" TEXT,
ADD COLUMN     "replaces" TEXT;

-- CreateIndex
CREATE INDEX "api_keys_end_told_at_expires_at_idx" ON "api_keys"("end_told_at", "expires_at");
