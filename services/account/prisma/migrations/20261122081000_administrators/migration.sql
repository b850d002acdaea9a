-- Who looks for another administrator finds the few that there are. Prisma's schema cannot say an index on an expression, and does
-- not look at it.
CREATE INDEX "accounts_administrators_idx" ON "accounts"(("status" = 'active')) WHERE 'admin' = ANY("roles");
