-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "created_by" TEXT;

-- AlterTable
ALTER TABLE "service_clients" ADD COLUMN     "created_by" TEXT;
