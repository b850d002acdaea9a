-- signalbox: expand
ALTER TABLE "signing_keys" ADD COLUMN "kind" TEXT NOT NULL DEFAULT 'service';
