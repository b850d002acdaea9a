-- signalbox: expand
ALTER TABLE "sources" ADD COLUMN "is_secret_short" BOOLEAN;
