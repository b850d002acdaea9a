import { AppError, type Clock } from "@signalbox/core";
import { dayMs, type ListRange, type Stretch, startOfDay, stretchesBack } from "@signalbox/storage";
import type { Prisma, PrismaClient } from "../generated/prisma/client.ts";
import { firstIdAt, timeOfId } from "./audit-days.ts";
import type { AuditEntry } from "./audit-entry.ts";
import type { AuditFilter, AuditScope } from "./audit-filter.ts";

interface AuditStoreDependencies {
  readonly prisma: PrismaClient;
  readonly clock: Clock;
  readonly retentionDays: () => number;
}

export type AuditStore = ReturnType<typeof createAuditStore>;

/** Reads the audit; `audit.ts` writes it. */
export function createAuditStore({ prisma, clock, retentionDays }: AuditStoreDependencies) {
  return {
    /** Lists the entries of a scope that fit the filter, newest first, which is the order of their ids. */
    async list(
      scope: AuditScope,
      { after, limit }: ListRange,
      filter: AuditFilter = {},
    ): Promise<readonly AuditEntry[]> {
      const below = after && entryIdFrom(after.id);
      const where = whereOf(scope, filter);
      const entries: AuditEntry[] = [];
      for (const { fromMs, toMs } of stretchesBack(kept(below, filter))) {
        // Prisma's statements are planned with their values, and so touch the days of the stretch alone.
        const end = firstIdAt(toMs);
        const id = { gte: firstIdAt(fromMs), lt: below !== null && below < end ? below : end };
        const take = limit - entries.length;
        entries.push(...(await prisma.auditEntry.findMany({ where: { ...where, id }, orderBy: { id: "desc" }, take })));
        if (entries.length >= limit) break;
      }
      return entries;
    },
  };

  /** The time of which entries may be there. Another instance's clock may be ahead of ours by less than a day. */
  function kept(below: string | null, { since, until }: AuditFilter): Stretch {
    const nowMs = clock.nowMs();
    return {
      fromMs: Math.max(startOfDay(nowMs - retentionDays() * dayMs), since?.getTime() ?? 0),
      toMs: Math.min(
        nowMs + dayMs,
        until?.getTime() ?? Number.POSITIVE_INFINITY,
        below === null ? Number.POSITIVE_INFINITY : timeOfId(below) + 1,
      ),
    };
  }
}

/** The id of an entry in a cursor. PostgreSQL takes nothing else as one. @throws AppError `invalid_request` */
function entryIdFrom(id: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) return id;
  throw new AppError("invalid_request", "The cursor is not one of ours.", {
    details: [{ field: "cursor", code: "invalid_cursor", message: "Use next_cursor of an earlier page as it is." }],
  });
}

/** What an entry must be, besides its time. */
function whereOf(scope: AuditScope, { action, outcome, subject, actor }: AuditFilter): Prisma.AuditEntryWhereInput {
  const { accountId } = scope;
  return {
    ...(accountId !== undefined && { accountId }),
    ...(action !== undefined && { action }),
    ...(outcome !== undefined && { outcome }),
    ...(subject !== undefined && { subject }),
    ...(actor !== undefined && whereActor(scope, actor)),
  };
}

/** An owner does not see the credentials of administrators, and does not find out by asking for them either. */
function whereActor({ accountId, byOwner }: AuditScope, actor: string): Prisma.AuditEntryWhereInput {
  if (!actor.startsWith("acc_")) return { actorCredential: actor, ...(byOwner && { actorAccountId: accountId }) };
  // What others did to an account they did as administrators, which has an index of its own.
  const asOther = { actorAccountId: actor, actorKind: { not: "owner" } };
  if (accountId === undefined) return { OR: [{ accountId: actor, actorAccountId: actor }, asOther] };
  return accountId === actor ? { actorAccountId: actor } : asOther;
}
