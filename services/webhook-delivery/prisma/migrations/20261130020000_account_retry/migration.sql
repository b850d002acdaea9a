-- signalbox: expand
ALTER TABLE "replays" ADD COLUMN     "left_out" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "turns" JSONB NOT NULL DEFAULT '[]',
ALTER COLUMN "endpoint_id" DROP NOT NULL;
