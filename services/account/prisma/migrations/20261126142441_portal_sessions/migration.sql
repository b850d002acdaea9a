-- signalbox: expand
-- CreateTable
CREATE TABLE "portal_sessions" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "access" TEXT NOT NULL,
    "endpoint_ids" JSONB,
    "theme" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "portal_sessions_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "portal_sessions_digest_key" ON "portal_sessions"("digest");

-- CreateIndex
CREATE INDEX "portal_sessions_account_id_created_at_id_idx" ON "portal_sessions"("account_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "portal_sessions_expires_at_idx" ON "portal_sessions"("expires_at");

-- AddForeignKey
ALTER TABLE "portal_sessions" ADD CONSTRAINT "portal_sessions_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
