import { accountStates } from "@signalbox/contracts";
import { booleanParameter, timeParameter } from "@signalbox/http";
import { z } from "zod";
import type { AccountFilter } from "./account-search-store.ts";

/** What administrators may narrow the list of accounts by; the query parameters of REST. Names are kept in NFC, so they are sought so. */
export const accountFilter = {
  status: z.enum(accountStates).optional(),
  search: z
    .string()
    .normalize("NFC")
    .min(2)
    .max(254)
    .optional()
    .describe("A part of the name or a contact address, or a whole id."),
  recovery_requested: booleanParameter().optional().describe("Whether the owner asks to have the account back."),
  created_after: timeParameter().optional(),
  created_before: timeParameter().optional(),
};

type WireFilter = z.output<z.ZodObject<typeof accountFilter>>;

/** The filter's wire names, as the store knows them. GraphQL sends the same. */
export function filterFrom({ status, search, ...wire }: WireFilter): AccountFilter {
  return {
    status,
    search,
    recoveryRequested: wire.recovery_requested,
    createdAfter: wire.created_after,
    createdBefore: wire.created_before,
  };
}
