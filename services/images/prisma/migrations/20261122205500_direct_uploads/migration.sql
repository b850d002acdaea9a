-- signalbox: expand
-- CreateTable
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

-- CreateIndex
CREATE INDEX "direct_uploads_account_id_expires_at_idx" ON "direct_uploads"("account_id", "expires_at");

-- CreateIndex
CREATE INDEX "direct_uploads_sweep_at_idx" ON "direct_uploads"("sweep_at");
