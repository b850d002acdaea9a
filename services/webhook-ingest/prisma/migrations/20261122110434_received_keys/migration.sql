-- What was received outlives its source until a worker follows, and is known again by digests instead of by its name.
ALTER TABLE "received_deliveries" DROP CONSTRAINT "received_deliveries_source_id_fkey";
DROP INDEX "received_deliveries_source_id_delivery_id_key";

ALTER TABLE "received_deliveries"
ADD COLUMN     "forwarded" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "headers" JSONB NOT NULL DEFAULT '{}',
ADD COLUMN     "is_id_signed" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "is_type_signed" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "same_content_as" TEXT;
ALTER TABLE "received_deliveries"
ALTER COLUMN "forwarded" DROP DEFAULT,
ALTER COLUMN "headers" DROP DEFAULT,
ALTER COLUMN "is_id_signed" DROP DEFAULT,
ALTER COLUMN "is_type_signed" DROP DEFAULT;

CREATE TABLE "received_keys" (
    "source_id" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "content" BYTEA NOT NULL,
    "received_id" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "received_keys_pkey" PRIMARY KEY ("source_id","digest")
);
CREATE INDEX "received_keys_received_at_idx" ON "received_keys" USING BRIN ("received_at");

-- As `keysOf` makes them: a repetition of what was received before this release stays one.
INSERT INTO "received_keys" ("source_id", "digest", "content", "received_id", "received_at")
SELECT "source_id",
  substr(sha256('\x696400'::bytea || convert_to("delivery_id", 'UTF8') || '\x00'::bytea), 1, 16),
  substr(sha256("body" || '\x00'::bytea), 1, 16),
  "id", "received_at"
FROM "received_deliveries";

CREATE TABLE "removed_sources" (
    "id" TEXT NOT NULL,
    "removed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "removed_sources_pkey" PRIMARY KEY ("id")
);

UPDATE "sources" SET "status" = 'active' WHERE "status" = 'enabled';
