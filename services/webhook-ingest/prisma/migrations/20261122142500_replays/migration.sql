-- signalbox: expand
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
