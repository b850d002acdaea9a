-- signalbox: expand
ALTER TABLE "rejections"
ADD COLUMN     "headers" JSONB,
ADD COLUMN     "body" BYTEA,
ADD COLUMN     "sealed_proof" TEXT,
ADD COLUMN     "received_id" TEXT;
