-- CreateTable
CREATE TABLE "property_overrides" (
    "name" TEXT NOT NULL,
    "value" JSONB NOT NULL,
    "revision" BIGINT NOT NULL,
    "actor" TEXT NOT NULL,
    "reason" TEXT,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "property_overrides_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "property_revisions" (
    "revision" BIGINT NOT NULL,
    "name" TEXT NOT NULL,
    "set" BOOLEAN NOT NULL,
    "value" JSONB,
    "actor" TEXT NOT NULL,
    "reason" TEXT,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "property_revisions_pkey" PRIMARY KEY ("revision")
);

-- CreateTable
CREATE TABLE "revision_counter" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "revision" BIGINT NOT NULL,

    CONSTRAINT "revision_counter_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "property_revisions_name_revision_idx" ON "property_revisions"("name", "revision");

-- The one row that every change locks and counts up.
INSERT INTO "revision_counter" ("id", "revision") VALUES (1, 0);
