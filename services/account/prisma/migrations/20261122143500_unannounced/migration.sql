-- signalbox: expand
-- While a broker is away the outbox is long, and every service asks each second whether an access change waits in it.
CREATE INDEX "outbox_unannounced" ON "signalbox"."outbox"("created_at") WHERE "topic" = 'signalbox.access.v1';
