-- Who looks for entries narrows them. Most entries are changes of accounts by their owners, on the hottest write there is: the
-- indexes leave out what is no use to find by them. A credential is used for hours or days, so that few blocks have its entries:
-- a BRIN finds them, and costs a write next to nothing where a B-tree costs as much as half the row.
-- CreateIndex
CREATE INDEX "audit_entries_actor_credential_idx" ON public."audit_entries" USING BRIN ("actor_credential" text_bloom_ops) WITH (pages_per_range = 32, autosummarize = on);

-- Prisma's schema cannot say an index on some of the rows, and does not look at it.
CREATE INDEX "audit_entries_actor_account_id_id_idx" ON public."audit_entries"("actor_account_id", "id" DESC) WHERE "actor_kind" <> 'owner';
CREATE INDEX "audit_entries_action_id_idx" ON public."audit_entries"("action", "id" DESC) WHERE "action" <> 'account.update';
CREATE INDEX "audit_entries_subject_id_idx" ON public."audit_entries"("subject", "id" DESC) WHERE "subject" IS NOT NULL;
CREATE INDEX "audit_entries_refused_id_idx" ON public."audit_entries"("id" DESC) WHERE "outcome" = 'refused';
