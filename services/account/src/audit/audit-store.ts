import type { Clock } from "@signalbox/core";
import type { PrismaClient } from "../generated/prisma/client.ts";
import { dayMs, firstIdAt, startOfDay, stretchesBack, timeOfId } from "./audit-days.ts";
import type { AuditEntry } from "./audit-entry.ts";

export interface AuditStore {
  /** Newest first, from below the entry with the id `after`. */
  list(
    accountId: string,
    options: { readonly after: string | null; readonly limit: number },
  ): Promise<readonly AuditEntry[]>;
}

interface Dependencies {
  readonly prisma: PrismaClient;
  readonly clock: Clock;
  readonly retentionDays: () => number;
}

/** Reads the audit. Who writes it has a transaction: see `audit.ts`. */
export function createAuditStore({ prisma, clock, retentionDays }: Dependencies): AuditStore {
  return {
    async list(accountId, { after, limit }) {
      const entries: AuditEntry[] = [];
      for (const { fromMs, toMs } of stretchesBack(kept(after))) {
        // Prisma's statements are planned with their values, and so touch the days of the stretch alone.
        const end = firstIdAt(toMs);
        const id = { gte: firstIdAt(fromMs), lt: after !== null && after < end ? after : end };
        const take = limit - entries.length;
        entries.push(
          ...(await prisma.auditEntry.findMany({ where: { accountId, id }, orderBy: { id: "desc" }, take })),
        );
        if (entries.length >= limit) break;
      }
      return entries;
    },
  };

  /** What may still be there. Another instance's clock may be ahead of ours by less than a day. */
  function kept(after: string | null) {
    const nowMs = clock.nowMs();
    const newestMs = nowMs + dayMs;
    return {
      fromMs: startOfDay(nowMs - retentionDays() * dayMs),
      toMs: after === null ? newestMs : Math.min(newestMs, timeOfId(after) + 1),
    };
  }
}
