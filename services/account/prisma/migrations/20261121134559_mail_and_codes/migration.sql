-- CreateTable
CREATE TABLE "outgoing_mails" (
    "id" UUID NOT NULL,
    "account_id" TEXT,
    "kind" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "outgoing_mails_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "one_time_codes" (
    "purpose" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "account_id" TEXT,
    "digest" BYTEA NOT NULL,
    "issued" TIMESTAMPTZ(3)[],
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "tries" INTEGER NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "one_time_codes_pkey" PRIMARY KEY ("purpose","subject")
);

-- CreateIndex
CREATE INDEX "outgoing_mails_due_at_idx" ON "outgoing_mails"("due_at");

-- CreateIndex
CREATE INDEX "outgoing_mails_expires_at_idx" ON "outgoing_mails"("expires_at");

-- CreateIndex
CREATE INDEX "outgoing_mails_account_id_idx" ON "outgoing_mails"("account_id");

-- CreateIndex
CREATE INDEX "one_time_codes_expires_at_idx" ON "one_time_codes"("expires_at");

-- CreateIndex
CREATE INDEX "one_time_codes_account_id_idx" ON "one_time_codes"("account_id");
