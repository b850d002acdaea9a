-- signalbox: expand
CREATE INDEX "images_account_id_updated_at_id_idx" ON "images"("account_id", "updated_at", "id");
CREATE INDEX "images_account_id_filename_id_idx" ON "images"("account_id", "filename", "id");
CREATE INDEX "images_account_id_size_bytes_id_idx" ON "images"("account_id", "size_bytes", "id");
