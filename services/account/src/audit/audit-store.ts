import type { PrismaClient } from "../generated/prisma/client.ts";
import type { AuditEntry } from "./audit-entry.ts";

export interface AuditStore {
  /** Newest first, from below the entry with the id `after`. */
  list(
    accountId: string,
    options: { readonly after: string | null; readonly limit: number },
  ): Promise<readonly AuditEntry[]>;
}

/** Reads the audit. Who writes it has a transaction: see `audit.ts`. */
export function createAuditStore(prisma: PrismaClient): AuditStore {
  return {
    list(accountId, { after, limit }) {
      const where = { accountId, ...(after !== null && { id: { lt: after } }) };
      return prisma.auditEntry.findMany({ where, orderBy: { id: "desc" }, take: limit });
    },
  };
}
