-- Who signs in by mail is found by it. Prisma's schema cannot say an index on an expression, and does not look at it.
CREATE INDEX "accounts_verified_address_idx" ON "accounts"(lower("contact_address")) WHERE "contact_address_verified";
