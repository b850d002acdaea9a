-- signalbox: expand
ALTER TABLE "direct_uploads" ADD COLUMN "metadata" TEXT;
