-- signalbox: expand
ALTER TABLE "signing_keys" ADD COLUMN     "expires_at" TIMESTAMPTZ(3);
