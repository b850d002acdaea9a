-- signalbox: expand
ALTER TABLE "endpoint_rates" ADD COLUMN     "adapted_at" TIMESTAMPTZ(6),
ADD COLUMN     "drains_per_second" DOUBLE PRECISION NOT NULL DEFAULT 20;
