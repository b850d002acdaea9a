-- signalbox: expand
CREATE TABLE "passkey_offers" (
    "account_id" TEXT NOT NULL,
    "answered_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "passkey_offers_pkey" PRIMARY KEY ("account_id")
);
