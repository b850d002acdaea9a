-- signalbox: expand
ALTER TABLE "sources" ADD COLUMN "is_secret_short" BOOLEAN;

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
