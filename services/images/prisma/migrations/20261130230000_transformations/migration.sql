-- signalbox: expand
CREATE TABLE "transformations" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "form" JSONB NOT NULL,
    "eager" BOOLEAN NOT NULL,
    "version" INTEGER NOT NULL,
    "revision" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "transformations_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "transformation_counters" (
    "account_id" TEXT NOT NULL,
    "last" INTEGER NOT NULL,

    CONSTRAINT "transformation_counters_pkey" PRIMARY KEY ("account_id")
);

CREATE UNIQUE INDEX "transformations_account_id_name_key" ON "transformations"("account_id", "name");
