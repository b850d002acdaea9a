import { createHash } from "node:crypto";
import { PrismaPg } from "@prisma/adapter-pg";
import type { Pool } from "./pool.ts";

/**
 * The adapter for `new PrismaClient({ adapter: prismaAdapter(pool) })`: Prisma on the connection pool of the raw
 * statements.
 */
export function prismaAdapter(pool: Pool): PrismaPg {
  return new PrismaPg(pool.driver, {
    disposeExternalPool: false,
    statementNameGenerator: ({ sql }) => `prisma.${createHash("sha1").update(sql).digest("base64url")}`,
  });
}
