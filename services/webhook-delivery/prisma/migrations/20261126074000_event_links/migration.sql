-- signalbox: expand
ALTER TABLE "webhook_events" ADD COLUMN "about_id" TEXT;
-- Events that accounts publish are about nothing of ours, and stay out.
CREATE INDEX "webhook_events_about_id_idx" ON "webhook_events"("about_id") WHERE "about_id" IS NOT NULL;
-- The events of a trace lie together: a BRIN finds their blocks, and costs the write of an event next to nothing.
CREATE INDEX "webhook_events_trace_idx" ON "webhook_events"
    USING BRIN (substr("traceparent", 4, 32) text_bloom_ops) WITH (pages_per_range = 32, autosummarize = on);
