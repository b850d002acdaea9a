-- signalbox: expand
CREATE TABLE "endpoint_health" (
    "endpoint_id" TEXT NOT NULL,
    "failing_since" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL,
    "successes" INTEGER NOT NULL,
    "told_at" TIMESTAMPTZ(3),
    "probe_at" TIMESTAMPTZ(3),

    CONSTRAINT "endpoint_health_pkey" PRIMARY KEY ("endpoint_id")
);

ALTER TABLE "delivery_attempts"
    ADD COLUMN "phase" TEXT,
    ADD COLUMN "decision" TEXT,
    ADD COLUMN "next_attempt_at" TIMESTAMPTZ(3),
    ADD COLUMN "exchange" JSONB;
