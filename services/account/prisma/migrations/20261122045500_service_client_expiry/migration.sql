-- AlterTable
ALTER TABLE "service_clients" ADD COLUMN     "end_told_at" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "service_clients_end_told_at_expires_at_idx" ON "service_clients"("end_told_at", "expires_at");
