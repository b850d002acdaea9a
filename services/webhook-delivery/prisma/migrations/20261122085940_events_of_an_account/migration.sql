-- CreateIndex
CREATE INDEX "webhook_events_account_id_idx" ON "webhook_events"("account_id");
