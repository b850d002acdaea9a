-- signalbox: expand
-- Whose events an endpoint gets: those of its account, or of all.
ALTER TABLE "endpoints" ADD COLUMN "scope" TEXT NOT NULL DEFAULT 'account';
CREATE INDEX "endpoints_operators_idx" ON "endpoints"("account_id") WHERE "scope" = 'all';

-- Of a copy for operators: whose event it is, so that it is erased with that account.
ALTER TABLE "webhook_events" ADD COLUMN "about_account_id" TEXT;
CREATE INDEX "webhook_events_about_account_id_idx" ON "webhook_events"("about_account_id")
    WHERE "about_account_id" IS NOT NULL;
