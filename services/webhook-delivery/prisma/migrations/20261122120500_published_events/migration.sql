CREATE TABLE "published_events" (
    "account_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "published_events_pkey" PRIMARY KEY ("account_id", "id")
);
CREATE INDEX "published_events_created_at_idx" ON "published_events"("created_at");
