-- signalbox: expand
CREATE TABLE "published_hours" (
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "account_id" TEXT NOT NULL,
    "credential" TEXT NOT NULL,
    "events" INTEGER NOT NULL,

    CONSTRAINT "published_hours_pkey" PRIMARY KEY ("hour","account_id","credential")
);
