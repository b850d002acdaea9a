-- signalbox: expand
CREATE TABLE "endpoint_credentials" (
    "endpoint_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,

    CONSTRAINT "endpoint_credentials_pkey" PRIMARY KEY ("endpoint_id", "name")
);

CREATE TABLE "signing_keys" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "signing_keys_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "signing_keys_account_id_idx" ON "signing_keys"("account_id");
