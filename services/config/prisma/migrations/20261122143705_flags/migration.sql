-- signalbox: expand
-- CreateTable
CREATE TABLE "flags" (
    "key" TEXT NOT NULL,
    "definition" JSONB NOT NULL,
    "revision" BIGINT NOT NULL,
    "actor" TEXT NOT NULL,
    "reason" TEXT,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "flags_pkey" PRIMARY KEY ("key")
);

-- CreateTable
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

-- CreateIndex
CREATE INDEX "flag_revisions_key_revision_idx" ON "flag_revisions"("key", "revision");
