-- CreateTable
CREATE TABLE "notice_counts" (
    "account_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "notice_counts_pkey" PRIMARY KEY ("account_id","kind")
);

-- CreateIndex
CREATE INDEX "notice_counts_since_idx" ON "notice_counts"("since");
