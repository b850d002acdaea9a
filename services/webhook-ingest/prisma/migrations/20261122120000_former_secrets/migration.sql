-- signalbox: expand
ALTER TABLE "sources"
ADD COLUMN     "former_secrets_end_at" TIMESTAMPTZ(3)[] NOT NULL DEFAULT '{}',
ADD COLUMN     "sealed_former_secrets" TEXT;
