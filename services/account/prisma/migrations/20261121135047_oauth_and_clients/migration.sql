-- CreateTable
CREATE TABLE "service_clients" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "scopes" TEXT[],
    "digest" BYTEA NOT NULL,
    "previous_digest" BYTEA,
    "previous_until" TIMESTAMPTZ(3),
    "access_epoch" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "service_clients_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "oauth_signing_keys" (
    "kid" TEXT NOT NULL,
    "algorithm" TEXT NOT NULL,
    "public_jwk" JSONB NOT NULL,
    "sealed_private_jwk" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "active_from" TIMESTAMPTZ(3) NOT NULL,
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_signing_keys_pkey" PRIMARY KEY ("kid")
);

-- CreateTable
CREATE TABLE "oauth_state" (
    "model" TEXT NOT NULL,
    "id" BYTEA NOT NULL,
    "sealed" TEXT NOT NULL,
    "grant_id" TEXT,
    "uid" BYTEA,
    "account_id" TEXT,
    "consumed_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_state_pkey" PRIMARY KEY ("model","id")
);

-- CreateTable
CREATE TABLE "oauth_issued_tokens" (
    "jti" TEXT NOT NULL,
    "grant_id" TEXT,
    "client_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_issued_tokens_pkey" PRIMARY KEY ("jti")
);

-- CreateIndex
CREATE INDEX "service_clients_account_id_created_at_id_idx" ON "service_clients"("account_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "oauth_state_grant_id_idx" ON "oauth_state"("grant_id");

-- CreateIndex
CREATE INDEX "oauth_state_uid_idx" ON "oauth_state"("uid");

-- CreateIndex
CREATE INDEX "oauth_state_account_id_idx" ON "oauth_state"("account_id");

-- CreateIndex
CREATE INDEX "oauth_state_expires_at_idx" ON "oauth_state"("expires_at");

-- CreateIndex
CREATE INDEX "oauth_issued_tokens_grant_id_idx" ON "oauth_issued_tokens"("grant_id");

-- CreateIndex
CREATE INDEX "oauth_issued_tokens_account_id_idx" ON "oauth_issued_tokens"("account_id");

-- CreateIndex
CREATE INDEX "oauth_issued_tokens_expires_at_idx" ON "oauth_issued_tokens"("expires_at");

-- AddForeignKey
ALTER TABLE "service_clients" ADD CONSTRAINT "service_clients_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
