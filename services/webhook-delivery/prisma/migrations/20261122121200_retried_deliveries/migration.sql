ALTER TABLE "deliveries" ADD COLUMN "exhausted_at" TIMESTAMPTZ(3);
