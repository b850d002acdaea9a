-- signalbox: expand
-- AlterTable
ALTER TABLE "accounts" ADD COLUMN     "scopes_max" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "invitations" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "address" TEXT,
    "canonical_address" TEXT,
    "role" TEXT NOT NULL,
    "scopes_max" TEXT[],
    "locale" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "mailed" TIMESTAMPTZ(3)[],
    "accepted_at" TIMESTAMPTZ(3),
    "accepted_by" TEXT,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "invitations_digest_key" ON "invitations"("digest");

-- CreateIndex
CREATE INDEX "invitations_created_at_id_idx" ON "invitations"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "invitations_account_id_idx" ON "invitations"("account_id");

-- CreateIndex
CREATE INDEX "invitations_canonical_address_idx" ON "invitations"("canonical_address");

-- CreateIndex
CREATE INDEX "invitations_accepted_by_idx" ON "invitations"("accepted_by");

-- CreateIndex
CREATE INDEX "invitations_expires_at_idx" ON "invitations"("expires_at");
