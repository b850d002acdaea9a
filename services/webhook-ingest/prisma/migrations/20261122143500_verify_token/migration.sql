-- signalbox: expand
ALTER TABLE "sources"
ADD COLUMN     "sealed_verify_token" TEXT;
