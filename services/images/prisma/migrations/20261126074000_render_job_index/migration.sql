-- signalbox: expand
CREATE INDEX "images_render_job_id_idx" ON "images"("render_job_id");
