-- signalbox: expand
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

ALTER TABLE "delivery_queue" ADD COLUMN "replay_id" TEXT;
