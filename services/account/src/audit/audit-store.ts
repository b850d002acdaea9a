import { AppError } from "@signalbox/core";
import { dayMs, type ListRange, ofEachParent, type Stretch, sql, startOfDay, stretchesBack } from "@signalbox/storage";
import type { AccountService } from "../context/account-service.ts";
import { type AuditEntry, type AuditFilter, type AuditScope, firstIdAt, timeOfId } from "./audit-entry.ts";
import { entries as table } from "./audit-log.ts";

/** A filter with the request or its trace, which the lists do not offer. */
export type StoreFilter = AuditFilter & { readonly requestId?: string; readonly traceId?: string };

// Reads the audit; `audit-log.ts` writes it.

/** Lists the entries of a scope that match the filter, newest first, which is the order of their ids. */
export async function listAuditEntries(
  service: AccountService,
  scope: AuditScope,
  { after, limit }: ListRange,
  filter: StoreFilter = {},
): Promise<readonly AuditEntry[]> {
  const below = after && entryIdFrom(after.id);
  const entries: AuditEntry[] = [];
  for (const stretch of stretchesBack(keptTimes(service, below, filter))) {
    const conditions = [...idsOf(stretch, below), ...conditionsOf(scope, filter)];
    entries.push(...(await readEntries(service, conditions, limit - entries.length)));
    if (entries.length >= limit) break;
  }
  return entries;
}

/** Lists the same range of entries for each of several accounts, as administrators see them, newest first. */
export async function listAuditOfAccounts(
  service: AccountService,
  accountIds: readonly string[],
  { after, limit }: ListRange,
  filter: AuditFilter = {},
): Promise<readonly AuditEntry[]> {
  const below = after && entryIdFrom(after.id);
  const found = new Map(accountIds.map((id): [string, AuditEntry[]] => [id, []]));
  for (const stretch of stretchesBack(keptTimes(service, below, filter))) {
    const unfilled = accountIds.filter((id) => (found.get(id)?.length ?? 0) < limit);
    if (unfilled.length === 0) break;
    const conditions = [...idsOf(stretch, below), ...conditionsOf({}, filter)];
    for (const entry of await readEntries(service, conditions, limit, unfilled))
      found.get(entry.accountId)?.push(entry);
  }
  return [...found.values()].flatMap((entries) => entries.slice(0, limit));
}

/** An unnamed statement is planned with its values, and so reads only the tables of the requested days. */
async function readEntries(
  { pool }: AccountService,
  conditions: readonly Condition[],
  limit: number,
  ofAccounts?: readonly string[],
) {
  const values: unknown[] = ofAccounts ? [ofAccounts] : [];
  const place = (value: unknown) => `$${values.push(value)}`;
  const where = conditions.map(({ text, value }) => text.replaceAll("?", place(value)));
  if (ofAccounts) where.push("account_id = parent.id");
  const select = `select ${table.columns} from audit_entries where ${where.join(" and ")} order by id desc limit ${place(limit)}`;
  return (await pool.query<AuditEntry>(sql("", ofAccounts ? ofEachParent(select) : select), values)).rows;
}

/**
 * Returns the range of times in which entries can exist. Another instance's clock may be ahead of ours by less than a
 * day.
 */
function keptTimes(
  { clock, configuration }: AccountService,
  below: string | null,
  { since, until }: AuditFilter,
): Stretch {
  const nowMs = clock.nowMs();
  return {
    fromMs: Math.max(
      startOfDay(nowMs - configuration.get("account.audit.retention-days") * dayMs),
      since?.getTime() ?? 0,
    ),
    toMs: Math.min(
      nowMs + dayMs,
      until?.getTime() ?? Number.POSITIVE_INFINITY,
      below === null ? Number.POSITIVE_INFINITY : timeOfId(below) + 1,
    ),
  };
}

/** Parses the id of an entry in a cursor; PostgreSQL accepts nothing but a UUID. @throws AppError `invalid_request` */
function entryIdFrom(id: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) return id;
  throw new AppError("invalid_request", "The cursor is not valid.", {
    details: [{ field: "cursor", code: "invalid_cursor", message: "Use next_cursor of an earlier page unchanged." }],
  });
}

/** One condition of a `where`, with the values of its question marks. */
interface Condition {
  readonly text: string;
  readonly value: unknown;
}

function idsOf({ fromMs, toMs }: Stretch, below: string | null): Condition[] {
  const end = firstIdAt(toMs);
  return [
    { text: "id >= ?::uuid", value: firstIdAt(fromMs) },
    { text: "id < ?::uuid", value: below !== null && below < end ? below : end },
  ];
}

/** Returns the conditions of the query, except for those on time. */
function conditionsOf(
  scope: AuditScope,
  { action, outcome, subject, requestId, traceId, actor }: StoreFilter,
): Condition[] {
  const { accountId } = scope;
  const equal = { account_id: accountId, action, outcome, subject, request_id: requestId, trace_id: traceId };
  const conditions = Object.entries(equal).map(([column, value]) => ({ text: `${column} = ?`, value }));
  return [...conditions.filter(({ value }) => value !== undefined), ...actorConditions(scope, actor)];
}

/** An owner does not see the credentials of administrators, and must not find them out by filtering either. */
function actorConditions({ accountId, byOwner }: AuditScope, actor: string | undefined): Condition[] {
  if (actor === undefined) return [];
  if (!actor.startsWith("acc_")) {
    const asOwner = { text: "(actor_kind = 'owner' or actor_account_id = ?)", value: accountId };
    return [{ text: "actor_credential = ?", value: actor }, ...(byOwner ? [asOwner] : [])];
  }
  // Changes made to another account are an administrator's, which has an index of its own.
  const asOther = "actor_account_id = ? and actor_kind <> 'owner'";
  const asOwner = "actor_account_id = ?";
  if (accountId === undefined) return [{ text: `((account_id = ? and ${asOwner}) or (${asOther}))`, value: actor }];
  return [{ text: asOwner, value: actor }];
}
