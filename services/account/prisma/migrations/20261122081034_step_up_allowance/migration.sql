-- CreateTable
CREATE TABLE "step_up_allowances" (
    "account_id" TEXT NOT NULL,
    "mailed" TIMESTAMPTZ(3)[],
    "tried" TIMESTAMPTZ(3)[],
    "last_used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "step_up_allowances_pkey" PRIMARY KEY ("account_id")
);

-- CreateIndex
CREATE INDEX "step_up_allowances_last_used_at_idx" ON "step_up_allowances"("last_used_at");
