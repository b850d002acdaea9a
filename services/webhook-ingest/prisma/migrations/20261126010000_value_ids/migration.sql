-- signalbox: expand
ALTER TABLE "sources" ADD COLUMN     "address_ids" TEXT[],
ADD COLUMN     "secret_ids" TEXT[];
