-- signalbox: expand
-- CreateTable
CREATE TABLE "oauth_applications" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "redirect_uris" TEXT[],
    "post_logout_redirect_uris" TEXT[],
    "scopes" TEXT[],
    "logo_url" TEXT,
    "party" TEXT NOT NULL,
    "consent" TEXT NOT NULL,
    "secrets" JSONB NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_applications_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "oauth_applications_created_at_id_idx" ON "oauth_applications"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "oauth_issued_tokens_client_id_idx" ON "oauth_issued_tokens"("client_id");
