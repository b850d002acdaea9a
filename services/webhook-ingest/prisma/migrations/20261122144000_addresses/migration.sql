-- signalbox: expand
ALTER TABLE "sources"
ADD COLUMN     "address" TEXT,
ADD COLUMN     "former_addresses" TEXT[] NOT NULL DEFAULT '{}',
ADD COLUMN     "former_addresses_end_at" TIMESTAMPTZ(3)[] NOT NULL DEFAULT '{}';
CREATE UNIQUE INDEX "sources_address_key" ON "sources"("address");
CREATE INDEX "sources_former_addresses_idx" ON "sources" USING GIN ("former_addresses");
