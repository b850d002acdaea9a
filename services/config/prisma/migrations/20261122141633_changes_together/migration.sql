-- signalbox: expand
-- AlterTable
ALTER TABLE "property_overrides" ADD COLUMN     "expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "restores" BIGINT;

-- AlterTable
ALTER TABLE "property_revisions" DROP CONSTRAINT "property_revisions_pkey",
ADD COLUMN     "credential" TEXT,
ADD COLUMN     "expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "request_id" TEXT,
ADD COLUMN     "restores" BIGINT,
ADD COLUMN     "together" INTEGER NOT NULL DEFAULT 1,
ADD CONSTRAINT "property_revisions_pkey" PRIMARY KEY ("revision", "name");

-- CreateTable
CREATE TABLE "change_proposals" (
    "id" TEXT NOT NULL,
    "changes" JSONB NOT NULL,
    "reason" TEXT,
    "author" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "state" TEXT NOT NULL,
    "decided_by" TEXT,
    "decided_at" TIMESTAMPTZ(3),
    "revision" BIGINT,

    CONSTRAINT "change_proposals_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "change_proposals_created_at_id_idx" ON "change_proposals"("created_at", "id");

-- CreateIndex
CREATE INDEX "property_overrides_expires_at_idx" ON "property_overrides"("expires_at");
