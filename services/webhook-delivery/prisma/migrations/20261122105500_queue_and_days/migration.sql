-- Nothing was released with the former tables of deliveries: they begin anew.
DROP TABLE "delivery_attempts";
DROP TABLE "deliveries";
DROP TABLE "webhook_events";

-- The secrets keep their place under the seal, which is that of their endpoint.
CREATE TABLE "endpoint_secrets" (
    "id" TEXT NOT NULL,
    "endpoint_id" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "endpoint_secrets_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "endpoint_secrets_endpoint_id_idx" ON "endpoint_secrets"("endpoint_id");
INSERT INTO "endpoint_secrets" ("id", "endpoint_id", "sealed", "created_at", "expires_at")
SELECT 'whk_' || substr("id", 5), "id", "sealed_secret", "updated_at", NULL FROM "endpoints"
UNION ALL
SELECT 'whk_previous_' || substr("id", 5), "id", "sealed_previous_secret", "created_at", "previous_secret_until"
FROM "endpoints" WHERE "sealed_previous_secret" IS NOT NULL AND "previous_secret_until" IS NOT NULL;

ALTER TABLE "endpoints"
    DROP COLUMN "sealed_secret",
    DROP COLUMN "sealed_previous_secret",
    DROP COLUMN "previous_secret_until",
    ADD COLUMN "deleted_at" TIMESTAMPTZ(3);

CREATE TABLE "webhook_events" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "body" BYTEA NOT NULL,
    "traceparent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "deliveries" INTEGER NOT NULL,

    CONSTRAINT "webhook_events_pkey" PRIMARY KEY ("account_id", "created_at", "id")
) PARTITION BY RANGE ("created_at");

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

    CONSTRAINT "delivery_queue_pkey" PRIMARY KEY ("endpoint_id", "due_at", "delivery_id")
);
-- Every delivery passes through: vacuum by count, or the next look is through the dead rows of former ones.
ALTER TABLE "delivery_queue" SET (
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 10000,
    autovacuum_vacuum_cost_delay = 0
);

CREATE TABLE "delivery_instances" (
    "id" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "delivery_instances_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "purged_accounts" (
    "account_id" TEXT NOT NULL,

    CONSTRAINT "purged_accounts_pkey" PRIMARY KEY ("account_id")
);
