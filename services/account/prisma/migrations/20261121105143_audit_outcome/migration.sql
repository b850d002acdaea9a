-- AlterTable
ALTER TABLE "audit_entries" ADD COLUMN     "outcome" TEXT NOT NULL DEFAULT 'done';
