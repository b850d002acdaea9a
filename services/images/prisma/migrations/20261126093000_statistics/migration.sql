-- signalbox: expand
-- Rows of a few kilobytes stay in their place, uncompressed: a read wants hundreds of them.
CREATE TABLE "statistics" (
    "subject_id" TEXT NOT NULL,
    "period" SMALLINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "figures" TEXT NOT NULL,
    "rolled" BOOLEAN NOT NULL,

    CONSTRAINT "statistics_pkey" PRIMARY KEY ("subject_id","period","at")
) WITH (fillfactor = 70, toast_tuple_target = 8160);
-- Partial: a few rows of each subject, those of the last minutes.
CREATE INDEX "statistics_unrolled_idx" ON "statistics"("subject_id", "at") WHERE NOT "rolled";
CREATE INDEX "statistics_at_idx" ON "statistics" USING BRIN ("at");

-- No index: what is stored and counted appends to it, and a worker empties it. Vacuum by count, or its pages are never used again.
-- A batch stays as it is: to compress it would cost more than to write it.
CREATE TABLE "fresh_statistics" (
    "batch" TEXT NOT NULL,
    "counted" INTEGER[]
) WITH (
    toast_tuple_target = 8160,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
);

CREATE TABLE "purged_accounts" (
    "id" TEXT NOT NULL,
    "purged_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "purged_accounts_pkey" PRIMARY KEY ("id")
);
