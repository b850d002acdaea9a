import { accountStates } from "@signalbox/contracts";
import { definedMembers } from "@signalbox/core";
import { booleanParameter, timeParameter } from "@signalbox/http";
import { type ListRange, newestFirstOf, type Pool, prismaAdapter } from "@signalbox/storage";
import { z } from "zod";
import { type Prisma, PrismaClient } from "../generated/prisma/client.ts";
import type { Account } from "./account.ts";
import { externalId } from "./account-fields.ts";
import { accountFrom } from "./account-store.ts";

/**
 * Filters of the list of accounts: query parameters in REST, arguments in GraphQL. Names are stored in NFC and searched
 * in NFC. An absent member does not narrow.
 */
export const accountFilter = {
  status: z.enum(accountStates).optional().describe("Only accounts in this state."),
  search: z
    .string()
    .normalize("NFC")
    .min(2)
    .max(254)
    .optional()
    .describe("A part of the name, a contact address or the external id, or a whole id."),
  external_id: externalId.optional().describe("The whole id of the account in another system."),
  recovery_requested: booleanParameter()
    .optional()
    .describe("True for accounts whose owners have requested recovery, false for all others."),
  created_after: timeParameter().optional().describe("Only those created after this time (RFC 3339)."),
  created_before: timeParameter().optional().describe("Only those created before this time (RFC 3339)."),
};

type AccountFilter = z.output<z.ZodObject<typeof accountFilter>>;

/** All accounts, for administrators. */
export class AccountSearchStore {
  readonly #prisma: PrismaClient;

  constructor(pool: Pool) {
    this.#prisma = new PrismaClient({ adapter: prismaAdapter(pool) });
  }

  /** Lists the accounts that match the filter, newest first, tombstones included. */
  async list(filter: AccountFilter, range: ListRange): Promise<Account[]> {
    const rows = await this.#prisma.account.findMany(newestFirstOf(narrowed(filter), range));
    return rows.map(accountFrom);
  }
}

function narrowed(filter: AccountFilter): Prisma.AccountWhereInput {
  const { status, search, external_id, recovery_requested, created_after, created_before } = filter;
  const recoveryRequestedAt = recovery_requested ? { not: null } : null;
  return definedMembers({
    status,
    externalId: external_id,
    OR: search === undefined ? undefined : found(search),
    recoveryRequestedAt: recovery_requested === undefined ? undefined : recoveryRequestedAt,
    createdAt: definedMembers({ gt: created_after, lt: created_before }),
  });
}

function found(search: string): Prisma.AccountWhereInput[] {
  // Prisma passes the text to LIKE unescaped.
  const contains = search.replace(/[\\%_]/g, "\\$&");
  const part = { contains, mode: "insensitive" } as const;
  return [
    { id: search },
    { displayName: part },
    { contactAddress: part },
    { pendingContactAddress: part },
    { externalId: part },
  ];
}
