-- signalbox: expand
CREATE TABLE "images" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "filename" TEXT NOT NULL,
    "mime_type" TEXT NOT NULL,
    "width" INTEGER NOT NULL,
    "height" INTEGER NOT NULL,
    "size_bytes" INTEGER NOT NULL,
    "sha256" TEXT NOT NULL,
    "frames" INTEGER NOT NULL,
    "has_alpha" BOOLEAN NOT NULL,
    "is_progressive" BOOLEAN NOT NULL,
    "title" TEXT,
    "caption" TEXT,
    "alt_text" TEXT,
    "tags" TEXT[],
    "visibility" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "placeholder" TEXT,
    "focal_x" DOUBLE PRECISION,
    "focal_y" DOUBLE PRECISION,
    "render_job_id" TEXT NOT NULL,
    "render_attempt" INTEGER NOT NULL DEFAULT 1,
    "revision" BIGINT NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "render_due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "render_issues" INTEGER NOT NULL DEFAULT 1,
    "dominant_color" TEXT,
    "failed_at" TIMESTAMPTZ(3),
    "failure_code" TEXT,

    CONSTRAINT "images_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "blobs" (
    "sha256" TEXT NOT NULL,
    "size_bytes" INTEGER NOT NULL,
    "mime_type" TEXT NOT NULL,
    "touched_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "blobs_pkey" PRIMARY KEY ("sha256")
);

CREATE TABLE "renditions" (
    "key" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "mime_type" TEXT,
    "width" INTEGER,
    "height" INTEGER,
    "size_bytes" INTEGER,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "stored_at" TIMESTAMPTZ(3),
    "attempted_at" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "job_id" TEXT,
    "named" BOOLEAN NOT NULL DEFAULT false,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "account_id" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "renditions_pkey" PRIMARY KEY ("key")
);

CREATE TABLE "tombstones" (
    "image_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "deleted_by" TEXT,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,
    "erased_at" TIMESTAMPTZ(3),
    "erased_bytes" BIGINT,
    "erased_objects" INTEGER,
    "is_original_kept" BOOLEAN,

    CONSTRAINT "tombstones_pkey" PRIMARY KEY ("image_id")
);

CREATE TABLE "signing_keys" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "sealed_secret" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "signing_keys_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "originals" (
    "account_id" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "size_bytes" INTEGER NOT NULL,
    "mime_type" TEXT NOT NULL,
    "touched_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "originals_pkey" PRIMARY KEY ("account_id","sha256")
);

CREATE TABLE "direct_uploads" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "filename" TEXT NOT NULL,
    "mime_type" TEXT NOT NULL,
    "size_bytes" INTEGER NOT NULL,
    "sha256" TEXT,
    "state" TEXT NOT NULL,
    "image_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "sweep_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "direct_uploads_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "images_account_id_created_at_id_idx" ON "images"("account_id", "created_at" DESC, "id" DESC);
CREATE INDEX "images_sha256_idx" ON "images"("sha256");
CREATE INDEX "images_tags_idx" ON "images" USING GIN ("tags");
CREATE INDEX "blobs_touched_at_idx" ON "blobs"("touched_at");
CREATE INDEX "renditions_sha256_idx" ON "renditions"("sha256");
CREATE INDEX "tombstones_account_id_deleted_at_idx" ON "tombstones"("account_id", "deleted_at" DESC);
CREATE INDEX "images_status_render_due_at_idx" ON "images"("status", "render_due_at");
CREATE INDEX "renditions_job_id_idx" ON "renditions"("job_id");
CREATE INDEX "signing_keys_account_id_idx" ON "signing_keys"("account_id");
CREATE INDEX "originals_touched_at_idx" ON "originals"("touched_at");
CREATE INDEX "images_account_id_sha256_idx" ON "images"("account_id", "sha256");
CREATE INDEX "renditions_account_id_sha256_idx" ON "renditions"("account_id", "sha256");
CREATE INDEX "tombstones_erased_at_deleted_at_idx" ON "tombstones"("erased_at", "deleted_at");
CREATE INDEX "direct_uploads_account_id_expires_at_idx" ON "direct_uploads"("account_id", "expires_at");
CREATE INDEX "direct_uploads_sweep_at_idx" ON "direct_uploads"("sweep_at");

CREATE INDEX "images_render_job_id_idx" ON "images"("render_job_id");
CREATE INDEX "images_account_id_updated_at_id_idx" ON "images"("account_id", "updated_at", "id");
CREATE INDEX "images_account_id_filename_id_idx" ON "images"("account_id", "filename", "id");
CREATE INDEX "images_account_id_size_bytes_id_idx" ON "images"("account_id", "size_bytes", "id");

CREATE TABLE "purged_accounts" (
    "id" TEXT NOT NULL,
    "purged_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "purged_accounts_pkey" PRIMARY KEY ("id")
);
