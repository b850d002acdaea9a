-- CreateTable
CREATE TABLE "contact_links" (
    "id" BIGSERIAL NOT NULL,
    "digest" BYTEA NOT NULL,
    "account_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "contact_links_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "step_ups" (
    "credential_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "step_ups_pkey" PRIMARY KEY ("credential_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "contact_links_digest_key" ON "contact_links"("digest");

-- CreateIndex
CREATE INDEX "contact_links_account_id_idx" ON "contact_links"("account_id");

-- CreateIndex
CREATE INDEX "contact_links_expires_at_idx" ON "contact_links"("expires_at");

-- CreateIndex
CREATE INDEX "step_ups_account_id_idx" ON "step_ups"("account_id");

-- CreateIndex
CREATE INDEX "step_ups_at_idx" ON "step_ups"("at");
