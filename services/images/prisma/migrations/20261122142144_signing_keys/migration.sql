-- signalbox: expand
-- CreateTable
CREATE TABLE "signing_keys" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "sealed_secret" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "signing_keys_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "signing_keys_account_id_idx" ON "signing_keys"("account_id");
