-- signalbox: expand
ALTER TABLE "images" ADD COLUMN "color_space" TEXT;
ALTER TABLE "images" ADD COLUMN "hdr" TEXT;
