import { accountStates } from "@signalbox/contracts";
import { booleanParameter, timeParameter } from "@signalbox/http";
import { z } from "zod";

/** What administrators may narrow the list of accounts by; the query parameters of REST. */
export const accountFilter = {
  status: z.enum(accountStates).optional(),
  search: z.string().min(2).max(254).optional().describe("A part of the name or a contact address, or a whole id."),
  recovery_requested: booleanParameter().optional().describe("Whether the owner asks to have the account back."),
  created_after: timeParameter().optional(),
  created_before: timeParameter().optional(),
};
