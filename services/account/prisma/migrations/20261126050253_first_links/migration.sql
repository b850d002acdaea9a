-- signalbox: expand
-- CreateTable
CREATE TABLE "first_links" (
    "digest" BYTEA NOT NULL,
    "account_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "first_links_pkey" PRIMARY KEY ("digest")
);

-- CreateIndex
CREATE INDEX "first_links_account_id_idx" ON "first_links"("account_id");

-- CreateIndex
CREATE INDEX "first_links_expires_at_idx" ON "first_links"("expires_at");
