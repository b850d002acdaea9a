-- AlterTable
ALTER TABLE "access_entries" ADD COLUMN     "not_before" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "accounts" ADD COLUMN     "signed_out_at" TIMESTAMPTZ(3);
