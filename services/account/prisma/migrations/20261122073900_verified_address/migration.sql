-- A verified address belongs to one living account. The column holds it in the form in which two spellings of one mailbox are
-- the same, which the service works out; of ASCII that is the lower case, which is written here for everybody at once.
ALTER TABLE "accounts" ADD COLUMN "verified_address" TEXT;

-- Of several living accounts of an address the oldest keeps it. What has none after this, the others and addresses that are
-- not ASCII, is settled by the service at its start: it has to say so in the audit and in events.
UPDATE "accounts" SET "verified_address" = lower("contact_address" COLLATE "C")
WHERE "id" IN (
  SELECT DISTINCT ON (lower("contact_address" COLLATE "C")) "id" FROM "accounts"
  WHERE "contact_address_verified" AND "purged_at" IS NULL AND "status" <> 'deleted'
    AND "contact_address" ~ '^[!-~]+@[A-Za-z0-9.-]+$'
  ORDER BY lower("contact_address" COLLATE "C"), "created_at", "id"
);

CREATE INDEX "accounts_canonical_address_idx" ON "accounts"("verified_address");

-- Prisma's schema cannot say a condition. `accounts_verified_address_idx` stays for the version before, which looks there.
CREATE UNIQUE INDEX "accounts_living_address_key" ON "accounts"("verified_address")
  WHERE "status" <> 'deleted' AND "purged_at" IS NULL;
CREATE INDEX "accounts_unsettled_address_idx" ON "accounts"("created_at")
  WHERE "contact_address_verified" AND "verified_address" IS NULL;
