-- signalbox: expand
ALTER TABLE "service_clients" ADD COLUMN     "previous_created_at" TIMESTAMPTZ(3),
ADD COLUMN     "previous_id" TEXT,
ADD COLUMN     "secret_created_at" TIMESTAMPTZ(3),
ADD COLUMN     "secret_id" TEXT;
