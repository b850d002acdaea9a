-- signalbox: expand
CREATE TABLE "endpoint_rates" (
    "endpoint_id" TEXT NOT NULL,
    "next_at" TIMESTAMPTZ(6) NOT NULL,
    "granted" INTEGER NOT NULL,

    CONSTRAINT "endpoint_rates_pkey" PRIMARY KEY ("endpoint_id")
);

ALTER TABLE "endpoints" ADD COLUMN "released_at" TIMESTAMPTZ(6);
