-- AlterTable
ALTER TABLE "accounts" ADD COLUMN     "purge_begun_at" TIMESTAMPTZ(3);
