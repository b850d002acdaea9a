-- AlterTable
ALTER TABLE "images" ADD COLUMN     "render_due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN     "render_issues" INTEGER NOT NULL DEFAULT 1;

-- CreateIndex
CREATE INDEX "images_status_render_due_at_idx" ON "images"("status", "render_due_at");
