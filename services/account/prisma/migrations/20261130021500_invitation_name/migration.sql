-- signalbox: expand
ALTER TABLE "invitations" ADD COLUMN "name" TEXT;
