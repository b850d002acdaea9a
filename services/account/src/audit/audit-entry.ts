import { timeParameter } from "@signalbox/http";
import type { DayTable } from "@signalbox/storage";
import { z } from "zod";

/** A stored audit entry. Ids are UUIDv7, so their order is the order of time. */
export interface AuditEntry {
  readonly id: string;
  readonly accountId: string;
  readonly action: string;
  readonly outcome: string;
  readonly fields: readonly string[];
  readonly reason: string | null;
  readonly subject: string | null;
  readonly actorKind: string;
  readonly actorAccountId: string | null;
  readonly actorCredential: string;
  readonly actorAddress: string | null;
  readonly requestId: string | null;
  readonly createdAt: Date;
}

const name = z.string().min(1).max(256);

/** Filters of a list of entries: query parameters in REST, arguments in GraphQL. An absent member does not narrow. */
export const auditFilter = {
  action: name.optional().describe("An action such as `api_key.revoke`, or a refused operation."),
  outcome: z
    .enum(["done", "refused"])
    .optional()
    .describe("Only changes that were made, or only those that were refused."),
  subject: name.optional().describe("The id of the subject."),
  actor: name
    .optional()
    .describe(
      "The id of the actor: an account, or its key, client or token. Owners can search for their own credentials.",
    ),
  since: timeParameter().optional().describe("Entries from this time on (RFC 3339)."),
  until: timeParameter().optional().describe("Entries before this time (RFC 3339)."),
};

export type AuditFilter = z.output<z.ZodObject<typeof auditFilter>>;

/** The entries in reach: all accounts' or one account's, read by its owner or by an administrator. */
export interface AuditScope {
  readonly accountId?: string;
  readonly byOwner?: boolean;
}

/** Returns the smallest UUIDv7 of this moment (RFC 9562 §5.7: the first 48 bits are the milliseconds). */
export function firstIdAt(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** Returns the time at which a UUIDv7 was created. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** The audit entries, partitioned into one table per day by their ids. */
export const auditDays: DayTable = {
  name: "audit_entries",
  column: "id",
  time: { firstAt: firstIdAt, timeOf: (id) => timeOfId(String(id)) },
};
