-- CreateTable
CREATE TABLE "sign_in_mails" (
    "id" UUID NOT NULL,
    "address" BYTEA NOT NULL,
    "asker" BYTEA NOT NULL,
    "known_browser" BOOLEAN NOT NULL,
    "sign_in" BYTEA NOT NULL,
    "sent_at" TIMESTAMPTZ(3) NOT NULL,
    "answered_at" TIMESTAMPTZ(3),

    CONSTRAINT "sign_in_mails_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "sign_in_mails_address_sent_at_idx" ON "sign_in_mails"("address", "sent_at");

-- CreateIndex
CREATE INDEX "sign_in_mails_asker_sent_at_idx" ON "sign_in_mails"("asker", "sent_at");

-- CreateIndex
CREATE INDEX "sign_in_mails_sign_in_idx" ON "sign_in_mails"("sign_in");

-- CreateIndex
CREATE INDEX "sign_in_mails_sent_at_idx" ON "sign_in_mails"("sent_at");
