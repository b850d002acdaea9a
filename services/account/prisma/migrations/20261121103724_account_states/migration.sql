-- AlterTable
ALTER TABLE "accounts" ADD COLUMN     "purged_at" TIMESTAMPTZ(3),
ADD COLUMN     "recovery_requested_at" TIMESTAMPTZ(3),
ADD COLUMN     "status_actor" TEXT,
ADD COLUMN     "status_changed_at" TIMESTAMPTZ(3),
ADD COLUMN     "status_reason" TEXT;

-- AlterTable
ALTER TABLE "audit_entries" ADD COLUMN     "actor_kind" TEXT NOT NULL DEFAULT 'owner',
ADD COLUMN     "reason" TEXT,
ALTER COLUMN "actor_account_id" DROP NOT NULL;

-- CreateIndex
CREATE INDEX "accounts_created_at_id_idx" ON "accounts"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "accounts_status_status_changed_at_idx" ON "accounts"("status", "status_changed_at");
