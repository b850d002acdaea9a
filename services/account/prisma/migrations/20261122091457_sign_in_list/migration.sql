-- CreateTable
CREATE TABLE "sign_ins" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "session" BYTEA NOT NULL,
    "browser" TEXT,
    "address" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_ins_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sign_in_grants" (
    "grant_id" TEXT NOT NULL,
    "sign_in_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_grants_pkey" PRIMARY KEY ("grant_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "sign_ins_session_key" ON "sign_ins"("session");

-- CreateIndex
CREATE INDEX "sign_ins_account_id_created_at_id_idx" ON "sign_ins"("account_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "sign_ins_last_used_at_idx" ON "sign_ins"("last_used_at");

-- CreateIndex
CREATE INDEX "sign_in_grants_sign_in_id_idx" ON "sign_in_grants"("sign_in_id");

-- CreateIndex
CREATE INDEX "sign_in_grants_account_id_idx" ON "sign_in_grants"("account_id");

-- CreateIndex
CREATE INDEX "sign_in_grants_expires_at_idx" ON "sign_in_grants"("expires_at");
