-- signalbox: expand
-- AlterTable
ALTER TABLE "property_overrides" ALTER COLUMN "value" DROP NOT NULL;
