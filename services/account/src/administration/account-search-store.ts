import type { AccountState } from "@signalbox/contracts";
import type { TimePosition } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { accountFrom } from "../accounts/account-store.ts";
import type { Prisma, PrismaClient } from "../generated/prisma/client.ts";
import { madeBefore } from "../lists/made-before.ts";

/** What administrators look for; an absent member does not narrow. */
export interface AccountFilter {
  readonly status?: AccountState | undefined;
  /** A part of the name or of a contact address, in any case; or a whole account id. */
  readonly search?: string | undefined;
  readonly recoveryRequested?: boolean | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

export interface AccountSearchStore {
  /** Newest first, tombstones included. */
  list(
    filter: AccountFilter,
    options: { readonly after: TimePosition | null; readonly limit: number },
  ): Promise<Account[]>;
}

/** All accounts, for administrators. */
export function createAccountSearchStore(prisma: PrismaClient): AccountSearchStore {
  return {
    async list(filter, { after, limit }) {
      const rows = await prisma.account.findMany({
        where: { AND: [narrowed(filter), after ? madeBefore(after) : {}] },
        orderBy: [{ createdAt: "desc" }, { id: "desc" }],
        take: limit,
      });
      return rows.map(accountFrom);
    },
  };
}

function narrowed(filter: AccountFilter): Prisma.AccountWhereInput {
  const { status, search, recoveryRequested, createdAfter, createdBefore } = filter;
  return {
    ...(status !== undefined && { status }),
    ...(search !== undefined && { OR: found(search) }),
    ...(recoveryRequested !== undefined && { recoveryRequestedAt: recoveryRequested ? { not: null } : null }),
    createdAt: { ...(createdAfter && { gt: createdAfter }), ...(createdBefore && { lt: createdBefore }) },
  };
}

function found(search: string): Prisma.AccountWhereInput[] {
  // Prisma hands the text to LIKE as it is.
  const contains = search.replace(/[\\%_]/g, "\\$&");
  const part = { contains, mode: "insensitive" } as const;
  return [{ id: search }, { displayName: part }, { contactAddress: part }, { pendingContactAddress: part }];
}
