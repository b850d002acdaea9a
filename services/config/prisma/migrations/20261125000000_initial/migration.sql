-- signalbox: expand
CREATE TABLE "property_overrides" (
    "name" TEXT NOT NULL,
    "value" JSONB,
    "revision" BIGINT NOT NULL,
    "actor" TEXT NOT NULL,
    "reason" TEXT,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "restores" BIGINT,

    CONSTRAINT "property_overrides_pkey" PRIMARY KEY ("name")
);

CREATE TABLE "property_revisions" (
    "revision" BIGINT NOT NULL,
    "name" TEXT NOT NULL,
    "set" BOOLEAN NOT NULL,
    "value" JSONB,
    "actor" TEXT NOT NULL,
    "reason" TEXT,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,
    "credential" TEXT,
    "expires_at" TIMESTAMPTZ(3),
    "request_id" TEXT,
    "restores" BIGINT,
    "together" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "property_revisions_pkey" PRIMARY KEY ("revision","name")
);

CREATE TABLE "revision_counter" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "revision" BIGINT NOT NULL,

    CONSTRAINT "revision_counter_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "change_proposals" (
    "id" TEXT NOT NULL,
    "changes" JSONB NOT NULL,
    "reason" TEXT,
    "author" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "state" TEXT NOT NULL,
    "decided_by" TEXT,
    "decided_at" TIMESTAMPTZ(3),
    "revision" BIGINT,

    CONSTRAINT "change_proposals_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "flags" (
    "key" TEXT NOT NULL,
    "definition" JSONB NOT NULL,
    "revision" BIGINT NOT NULL,
    "actor" TEXT NOT NULL,
    "reason" TEXT,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "flags_pkey" PRIMARY KEY ("key")
);

CREATE TABLE "flag_revisions" (
    "revision" BIGINT NOT NULL,
    "key" TEXT NOT NULL,
    "definition" JSONB,
    "actor" TEXT NOT NULL,
    "credential" TEXT,
    "request_id" TEXT,
    "reason" TEXT,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "flag_revisions_pkey" PRIMARY KEY ("revision")
);

CREATE TABLE "backups" (
    "name" TEXT NOT NULL,
    "taken_at" TIMESTAMPTZ(3) NOT NULL,
    "release" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,
    "verified_at" TIMESTAMPTZ(3),
    "restored_at" TIMESTAMPTZ(3),

    CONSTRAINT "backups_pkey" PRIMARY KEY ("name")
);

CREATE INDEX "backups_taken_at_idx" ON "backups"("taken_at");
CREATE INDEX "property_revisions_name_revision_idx" ON "property_revisions"("name", "revision");
CREATE INDEX "change_proposals_created_at_id_idx" ON "change_proposals"("created_at", "id");
CREATE INDEX "property_overrides_expires_at_idx" ON "property_overrides"("expires_at");
CREATE INDEX "flag_revisions_key_revision_idx" ON "flag_revisions"("key", "revision");

-- The one row that every change locks and counts up.
INSERT INTO "revision_counter" ("id", "revision") VALUES (1, 0);
