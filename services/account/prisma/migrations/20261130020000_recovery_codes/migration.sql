-- signalbox: expand
CREATE TABLE "sign_in_refusals" (
    "account_id" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "application" TEXT NOT NULL,
    "address" TEXT,
    "count" INTEGER NOT NULL,

    CONSTRAINT "sign_in_refusals_pkey" PRIMARY KEY ("account_id","reason","minute")
);
CREATE INDEX "sign_in_refusals_minute_idx" ON "sign_in_refusals"("minute");

CREATE TABLE "recovery_codes" (
    "digest" BYTEA NOT NULL,
    "account_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "recovery_codes_pkey" PRIMARY KEY ("digest")
);
CREATE INDEX "recovery_codes_account_id_idx" ON "recovery_codes"("account_id");
