-- signalbox: expand
ALTER TABLE "sources" ADD COLUMN     "preset" TEXT,
ADD COLUMN     "preset_settings" JSONB,
ADD COLUMN     "preset_version" TEXT;
