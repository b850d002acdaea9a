-- signalbox: expand
CREATE TABLE "sent_event_types" (
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "sent_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sent_event_types_pkey" PRIMARY KEY ("account_id","name")
);
