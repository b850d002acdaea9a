-- signalbox: expand
CREATE TABLE "endpoints" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "description" TEXT,
    "event_types" JSONB NOT NULL,
    "status" TEXT NOT NULL,
    "disabled_reason" TEXT,
    "settings" JSONB NOT NULL,
    "revision" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),
    "released_at" TIMESTAMPTZ(6),
    -- Whose events an endpoint gets: those of its account, or of all.
    "scope" TEXT NOT NULL DEFAULT 'account',
    "type" TEXT NOT NULL DEFAULT 'push',
    "consumer_of" TEXT,
    "ends_at" TIMESTAMPTZ(3),

    CONSTRAINT "endpoints_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "endpoints_account_id_created_at_id_idx" ON "endpoints"("account_id", "created_at", "id");
CREATE INDEX "endpoints_operators_idx" ON "endpoints"("account_id") WHERE "scope" = 'all';

CREATE TABLE "endpoint_secrets" (
    "id" TEXT NOT NULL,
    "endpoint_id" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "endpoint_secrets_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "endpoint_secrets_endpoint_id_idx" ON "endpoint_secrets"("endpoint_id");

CREATE TABLE "webhook_events" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "body" BYTEA NOT NULL,
    "traceparent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "deliveries" INTEGER NOT NULL,
    -- Of a copy for operators: whose event it is, so that it is erased with that account.
    "about_account_id" TEXT,
    "about_id" TEXT,

    CONSTRAINT "webhook_events_pkey" PRIMARY KEY ("account_id", "created_at", "id")
) PARTITION BY RANGE ("created_at");
CREATE INDEX "webhook_events_about_account_id_idx" ON "webhook_events"("about_account_id")
    WHERE "about_account_id" IS NOT NULL;

CREATE TABLE "deliveries" (
    "id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "endpoint_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "event_type" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL,
    "last_status" INTEGER,
    "last_error" TEXT,
    "last_attempt_at" TIMESTAMPTZ(3),
    "next_attempt_at" TIMESTAMPTZ(3),
    "exhausted_at" TIMESTAMPTZ(3),
    "order_key" TEXT,
    "sequence" BIGINT,

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id", "created_at")
) PARTITION BY RANGE ("created_at");
CREATE INDEX "deliveries_endpoint_id_created_at_id_idx" ON "deliveries"("endpoint_id", "created_at", "id");

CREATE TABLE "delivery_attempts" (
    "id" TEXT NOT NULL,
    "delivery_id" TEXT NOT NULL,
    "endpoint_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "status" INTEGER,
    "error" TEXT,
    "response" TEXT,
    "counted" BOOLEAN NOT NULL,
    "phase" TEXT,
    "decision" TEXT,
    "next_attempt_at" TIMESTAMPTZ(3),
    "exchange" JSONB,
    "event_type" TEXT,

    CONSTRAINT "delivery_attempts_pkey" PRIMARY KEY ("endpoint_id", "started_at", "id")
) PARTITION BY RANGE ("started_at");
CREATE INDEX "delivery_attempts_delivery_id_idx" ON "delivery_attempts"("delivery_id");

-- What comes before the table of its day lies here; the tables of the days are made by a worker.
CREATE SCHEMA IF NOT EXISTS "signalbox";
CREATE TABLE "signalbox"."webhook_events_default" PARTITION OF "webhook_events" DEFAULT;
CREATE TABLE "signalbox"."deliveries_default" PARTITION OF "deliveries" DEFAULT;
CREATE TABLE "signalbox"."delivery_attempts_default" PARTITION OF "delivery_attempts" DEFAULT;

CREATE TABLE "delivery_queue" (
    "endpoint_id" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(6) NOT NULL,
    "delivery_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "leased_by" INTEGER,
    "replay_id" TEXT,
    "order_key" TEXT,
    "sequence" BIGINT,
    "hold_until" TIMESTAMPTZ(3),
    "lease_id" TEXT,

    CONSTRAINT "delivery_queue_pkey" PRIMARY KEY ("endpoint_id", "due_at", "delivery_id")
);
-- Every delivery passes through: vacuum by count, or the next look is through the dead rows of former ones.
ALTER TABLE "delivery_queue" SET (
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 10000,
    autovacuum_vacuum_cost_delay = 0
);
-- Partial: deliveries without an order, which are most, stay out of both.
CREATE INDEX "delivery_queue_order_idx" ON "delivery_queue"("endpoint_id", "order_key", "sequence") WHERE "order_key" IS NOT NULL;
CREATE INDEX "delivery_queue_hold_until_idx" ON "delivery_queue"("hold_until") WHERE "hold_until" IS NOT NULL;

CREATE TABLE "delivery_instances" (
    "id" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "delivery_instances_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "purged_accounts" (
    "account_id" TEXT NOT NULL,

    CONSTRAINT "purged_accounts_pkey" PRIMARY KEY ("account_id")
);

CREATE TABLE "published_events" (
    "account_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "published_events_pkey" PRIMARY KEY ("account_id", "id")
);
CREATE INDEX "published_events_created_at_idx" ON "published_events"("created_at");

CREATE TABLE "endpoint_credentials" (
    "endpoint_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,

    CONSTRAINT "endpoint_credentials_pkey" PRIMARY KEY ("endpoint_id", "name")
);

CREATE TABLE "signing_keys" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "signing_keys_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "signing_keys_account_id_idx" ON "signing_keys"("account_id");

CREATE TABLE "endpoint_health" (
    "endpoint_id" TEXT NOT NULL,
    "failing_since" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL,
    "successes" INTEGER NOT NULL,
    "told_at" TIMESTAMPTZ(3),
    "probe_at" TIMESTAMPTZ(3),

    CONSTRAINT "endpoint_health_pkey" PRIMARY KEY ("endpoint_id")
);

CREATE TABLE "replays" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "endpoint_id" TEXT NOT NULL,
    "statuses" TEXT[],
    "event_types" TEXT[],
    "event_ids" TEXT[],
    "from_time" TIMESTAMPTZ(3) NOT NULL,
    "to_time" TIMESTAMPTZ(3) NOT NULL,
    "rate" INTEGER,
    "status" TEXT NOT NULL,
    "total" INTEGER NOT NULL,
    "replayed" INTEGER NOT NULL,
    "place_time" TIMESTAMPTZ(3) NOT NULL,
    "place_id" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "replays_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "replays_account_id_created_at_id_idx" ON "replays"("account_id", "created_at", "id");
CREATE INDEX "replays_status_due_at_idx" ON "replays"("status", "due_at");

CREATE TABLE "event_types" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "schema" JSONB,
    "enforcement" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "enforcement_reason" TEXT,

    CONSTRAINT "event_types_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "event_types_account_id_name_key" ON "event_types"("account_id", "name");

CREATE TABLE "delivery_order" (
    "endpoint_id" TEXT NOT NULL,
    "order_key" TEXT NOT NULL,
    "last_sequence" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "delivery_order_pkey" PRIMARY KEY ("endpoint_id", "order_key")
);
CREATE INDEX "delivery_order_updated_at_idx" ON "delivery_order"("updated_at");

CREATE TABLE "endpoint_rates" (
    "endpoint_id" TEXT NOT NULL,
    "next_at" TIMESTAMPTZ(6) NOT NULL,
    "granted" INTEGER NOT NULL,

    CONSTRAINT "endpoint_rates_pkey" PRIMARY KEY ("endpoint_id")
);

CREATE TABLE "published_hours" (
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "account_id" TEXT NOT NULL,
    "credential" TEXT NOT NULL,
    "events" INTEGER NOT NULL,

    CONSTRAINT "published_hours_pkey" PRIMARY KEY ("hour","account_id","credential")
);
CREATE INDEX "endpoints_consumer_of_idx" ON "endpoints"("consumer_of") WHERE "consumer_of" IS NOT NULL;
CREATE INDEX "endpoints_ends_at_idx" ON "endpoints"("ends_at") WHERE "ends_at" IS NOT NULL;

-- Only deliveries in the hands of a consumer are in these indexes.
CREATE UNIQUE INDEX "delivery_queue_lease_idx" ON "delivery_queue"("endpoint_id", "lease_id") WHERE "lease_id" IS NOT NULL;
CREATE INDEX "delivery_queue_lease_end_idx" ON "delivery_queue"("due_at") WHERE "lease_id" IS NOT NULL;

CREATE TABLE "pull_consumers" (
    "endpoint_id" TEXT NOT NULL,
    "start" TEXT NOT NULL,
    "from_time" TIMESTAMPTZ(3) NOT NULL,
    "place_time" TIMESTAMPTZ(3) NOT NULL,
    "place_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "filled_at" TIMESTAMPTZ(3),

    CONSTRAINT "pull_consumers_pkey" PRIMARY KEY ("endpoint_id")
);
CREATE INDEX "pull_consumers_unfilled_idx" ON "pull_consumers"("endpoint_id") WHERE "filled_at" IS NULL;

-- Events that accounts publish are about nothing of ours, and stay out.
CREATE INDEX "webhook_events_about_id_idx" ON "webhook_events"("about_id") WHERE "about_id" IS NOT NULL;

CREATE TABLE "sent_event_types" (
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "sent_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sent_event_types_pkey" PRIMARY KEY ("account_id","name")
);

-- Lists of failures skip the successes, which are most attempts.
CREATE INDEX "delivery_attempts_failed_idx" ON "delivery_attempts"("endpoint_id", "started_at", "id")
  WHERE "status" IS NULL OR "status" < 200 OR "status" > 299;

-- A hash has four bytes for each event; the planner leaves a BRIN of random values alone, and reads whole days instead.
CREATE INDEX "webhook_events_trace_idx" ON "webhook_events" USING HASH (substr("traceparent", 4, 32));
