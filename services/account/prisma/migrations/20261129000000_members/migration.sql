-- signalbox: expand
CREATE TABLE "memberships" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "member_id" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "invited_by" TEXT,

    CONSTRAINT "memberships_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "memberships_account_id_member_id_key" ON "memberships"("account_id", "member_id");
CREATE INDEX "memberships_member_id_idx" ON "memberships"("member_id");

ALTER TABLE "invitations" ADD COLUMN "member_role" TEXT;
ALTER TABLE "invitations" ADD COLUMN "inviter_id" TEXT;
