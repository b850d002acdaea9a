-- CreateTable
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

    CONSTRAINT "images_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "blobs" (
    "sha256" TEXT NOT NULL,
    "size_bytes" INTEGER NOT NULL,
    "mime_type" TEXT NOT NULL,
    "touched_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "blobs_pkey" PRIMARY KEY ("sha256")
);

-- CreateTable
CREATE TABLE "renditions" (
    "key" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "mime_type" TEXT,
    "width" INTEGER,
    "height" INTEGER,
    "size_bytes" INTEGER,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "stored_at" TIMESTAMPTZ(3),

    CONSTRAINT "renditions_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "tombstones" (
    "image_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "deleted_by" TEXT,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tombstones_pkey" PRIMARY KEY ("image_id")
);

-- CreateIndex
CREATE INDEX "images_account_id_created_at_id_idx" ON "images"("account_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "images_sha256_idx" ON "images"("sha256");

-- CreateIndex
CREATE INDEX "images_tags_idx" ON "images" USING GIN ("tags");

-- CreateIndex
CREATE INDEX "blobs_touched_at_idx" ON "blobs"("touched_at");

-- CreateIndex
CREATE INDEX "renditions_sha256_idx" ON "renditions"("sha256");

-- CreateIndex
CREATE INDEX "tombstones_account_id_deleted_at_idx" ON "tombstones"("account_id", "deleted_at" DESC);

-- AddForeignKey
ALTER TABLE "images" ADD CONSTRAINT "images_sha256_fkey" FOREIGN KEY ("sha256") REFERENCES "blobs"("sha256") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "renditions" ADD CONSTRAINT "renditions_sha256_fkey" FOREIGN KEY ("sha256") REFERENCES "blobs"("sha256") ON DELETE CASCADE ON UPDATE CASCADE;
