-- signalbox: expand
ALTER TABLE "change_proposals" ADD COLUMN     "decision_reason" TEXT;
