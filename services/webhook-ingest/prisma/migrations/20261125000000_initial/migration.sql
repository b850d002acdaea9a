-- signalbox: expand
CREATE TABLE "sources" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "scheme" TEXT NOT NULL,
    "sealed_secret" TEXT NOT NULL,
    "event_types" JSONB,
    "status" TEXT NOT NULL,
    "forward" BOOLEAN NOT NULL,
    "settings" JSONB NOT NULL,
    "revision" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "former_secrets_end_at" TIMESTAMPTZ(3)[] NOT NULL DEFAULT '{}',
    "sealed_former_secrets" TEXT,
    "sealed_verify_token" TEXT,
    "address" TEXT,
    "former_addresses" TEXT[] NOT NULL DEFAULT '{}',
    "former_addresses_end_at" TIMESTAMPTZ(3)[] NOT NULL DEFAULT '{}',
    "address_ids" TEXT[],
    "secret_ids" TEXT[],
    "is_secret_short" BOOLEAN,
    "sealed_sender_key" TEXT,
    "sender_key" JSONB,

    CONSTRAINT "sources_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "rejections" (
    "id" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "body_bytes" INTEGER NOT NULL,
    "address" TEXT NOT NULL,
    "rejected_at" TIMESTAMPTZ(3) NOT NULL,
    "headers" JSONB,
    "body" BYTEA,
    "sealed_proof" TEXT,
    "received_id" TEXT,
    "figures" JSONB,

    CONSTRAINT "rejections_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "removed_sources" (
    "id" TEXT NOT NULL,
    "removed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "removed_sources_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "received_keys" (
    "source_id" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "content" BYTEA NOT NULL,
    "received_id" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "received_keys_pkey" PRIMARY KEY ("source_id","digest")
);

CREATE INDEX "sources_account_id_created_at_id_idx" ON "sources"("account_id", "created_at", "id");
CREATE INDEX "rejections_source_id_rejected_at_id_idx" ON "rejections"("source_id", "rejected_at", "id");
CREATE UNIQUE INDEX "sources_address_key" ON "sources"("address");
CREATE INDEX "sources_former_addresses_idx" ON "sources" USING GIN ("former_addresses");
CREATE INDEX "received_keys_received_at_idx" ON "received_keys" USING BRIN ("received_at");

ALTER TABLE "rejections" ADD CONSTRAINT "rejections_source_id_fkey" FOREIGN KEY ("source_id") REFERENCES "sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "received_replays" (
    "id" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "received_ids" TEXT[],
    "event_types" TEXT[],
    "from_at" TIMESTAMPTZ(3) NOT NULL,
    "to_at" TIMESTAMPTZ(3) NOT NULL,
    "rate" INTEGER NOT NULL,
    "total" INTEGER NOT NULL,
    "published" INTEGER NOT NULL,
    "missing" INTEGER NOT NULL,
    "position_at" TIMESTAMPTZ(3) NOT NULL,
    "position_id" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "received_replays_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "received_replays_source_id_fkey" FOREIGN KEY ("source_id") REFERENCES "sources"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "received_replays_source_id_created_at_id_idx" ON "received_replays"("source_id", "created_at", "id");
-- The few that run, among all that have ended.
CREATE INDEX "received_replays_status_due_at_idx" ON "received_replays"("status", "due_at");

-- What was received, in partitions of one day; it outlives its source until a worker follows. The worker makes the days in the
-- schema of what Prisma does not describe; the default one takes what no day is there for, so that no write ever fails.
CREATE TABLE "received_deliveries" (
    "id" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "delivery_id" TEXT NOT NULL,
    "event_type" TEXT,
    "content_type" TEXT,
    "body" BYTEA NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "forwarded" BOOLEAN NOT NULL,
    "headers" JSONB NOT NULL,
    "is_id_signed" BOOLEAN NOT NULL,
    "is_type_signed" BOOLEAN NOT NULL,
    "same_content_as" TEXT,
    "body_decoded" BOOLEAN NOT NULL DEFAULT false,
    "origin" TEXT,

    CONSTRAINT "received_deliveries_pkey" PRIMARY KEY ("source_id", "received_at", "id")
) PARTITION BY RANGE ("received_at");
CREATE SCHEMA IF NOT EXISTS "signalbox";
CREATE TABLE "signalbox"."received_deliveries_default" PARTITION OF "received_deliveries" DEFAULT;

CREATE INDEX "rejections_source_id_reason_rejected_at_id_idx" ON "rejections"("source_id", "reason", "rejected_at", "id");

CREATE TABLE "bookmarks" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "received_id" TEXT NOT NULL,
    "delivery_id" TEXT NOT NULL,
    "event_type" TEXT,
    "content_type" TEXT,
    "headers" JSONB NOT NULL,
    "body" BYTEA NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "bookmarks_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "bookmarks_account_id_name_key" ON "bookmarks"("account_id", "name");
CREATE INDEX "bookmarks_account_id_created_at_id_idx" ON "bookmarks"("account_id", "created_at", "id");
CREATE INDEX "bookmarks_source_id_idx" ON "bookmarks"("source_id");
ALTER TABLE "bookmarks" ADD CONSTRAINT "bookmarks_source_id_fkey"
  FOREIGN KEY ("source_id") REFERENCES "sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "reconciliation_schedules" (
    "source_id" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "trigger" TEXT NOT NULL,
    "outage_id" TEXT,
    "covered_to" TIMESTAMPTZ(3) NOT NULL,
    "run_id" TEXT,
    "lease_id" TEXT,
    "lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "reconciliation_schedules_pkey" PRIMARY KEY ("source_id")
);

CREATE TABLE "reconciliations" (
    "id" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "trigger" TEXT NOT NULL,
    "outage_id" TEXT,
    "dry_run" BOOLEAN NOT NULL,
    "status" TEXT NOT NULL,
    "reason" TEXT,
    "from_at" TIMESTAMPTZ(3) NOT NULL,
    "to_at" TIMESTAMPTZ(3) NOT NULL,
    "position" TEXT,
    "is_listed" BOOLEAN NOT NULL,
    "listed" INTEGER NOT NULL,
    "missed" INTEGER NOT NULL,
    "recovered" INTEGER NOT NULL,
    "missed_from" TIMESTAMPTZ(3),
    "missed_to" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "reconciliations_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "missed_webhooks" (
    "source_id" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "run_id" TEXT NOT NULL,
    "reference" TEXT NOT NULL,
    "sent_at" TIMESTAMPTZ(3) NOT NULL,
    "state" TEXT NOT NULL,
    "reason" TEXT,
    "asks" INTEGER NOT NULL,
    "asked_at" TIMESTAMPTZ(3),

    CONSTRAINT "missed_webhooks_pkey" PRIMARY KEY ("source_id","digest")
);

CREATE TABLE "heartbeats" (
    "id" TEXT NOT NULL,
    "beat_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "heartbeats_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "outages" (
    "id" TEXT NOT NULL,
    "from_at" TIMESTAMPTZ(3) NOT NULL,
    "to_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "outages_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "reconciliation_schedules_due_at_idx" ON "reconciliation_schedules"("due_at");

CREATE INDEX "reconciliations_source_id_created_at_id_idx" ON "reconciliations"("source_id", "created_at", "id");

CREATE INDEX "reconciliations_outage_id_account_id_idx" ON "reconciliations"("outage_id", "account_id");

CREATE INDEX "missed_webhooks_run_id_state_sent_at_idx" ON "missed_webhooks"("run_id", "state", "sent_at");

CREATE INDEX "outages_created_at_id_idx" ON "outages"("created_at", "id");

ALTER TABLE "reconciliation_schedules" ADD CONSTRAINT "reconciliation_schedules_source_id_fkey" FOREIGN KEY ("source_id") REFERENCES "sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "reconciliations" ADD CONSTRAINT "reconciliations_source_id_fkey" FOREIGN KEY ("source_id") REFERENCES "sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "missed_webhooks" ADD CONSTRAINT "missed_webhooks_source_id_fkey" FOREIGN KEY ("source_id") REFERENCES "sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;
