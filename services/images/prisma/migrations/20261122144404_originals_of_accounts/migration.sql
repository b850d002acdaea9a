-- signalbox: expand
-- DropForeignKey
ALTER TABLE "images" DROP CONSTRAINT "images_sha256_fkey";

-- DropForeignKey
ALTER TABLE "renditions" DROP CONSTRAINT "renditions_sha256_fkey";

-- AlterTable
ALTER TABLE "renditions" ADD COLUMN     "account_id" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "tombstones" ADD COLUMN     "erased_at" TIMESTAMPTZ(3),
ADD COLUMN     "erased_bytes" BIGINT,
ADD COLUMN     "erased_objects" INTEGER,
ADD COLUMN     "is_original_kept" BOOLEAN;

-- CreateTable
CREATE TABLE "originals" (
    "account_id" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "size_bytes" INTEGER NOT NULL,
    "mime_type" TEXT NOT NULL,
    "touched_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "originals_pkey" PRIMARY KEY ("account_id","sha256")
);

-- CreateIndex
CREATE INDEX "originals_touched_at_idx" ON "originals"("touched_at");

-- CreateIndex
CREATE INDEX "images_account_id_sha256_idx" ON "images"("account_id", "sha256");

-- CreateIndex
CREATE INDEX "renditions_account_id_sha256_idx" ON "renditions"("account_id", "sha256");

-- CreateIndex
CREATE INDEX "tombstones_erased_at_deleted_at_idx" ON "tombstones"("erased_at", "deleted_at");
