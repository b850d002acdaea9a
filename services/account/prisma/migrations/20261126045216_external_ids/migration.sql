-- signalbox: expand
-- AlterTable
ALTER TABLE "accounts" ADD COLUMN     "external_id" TEXT,
ADD COLUMN     "metadata" JSONB NOT NULL DEFAULT '{}';

-- CreateIndex
CREATE UNIQUE INDEX "accounts_external_id_key" ON "accounts"("external_id");
