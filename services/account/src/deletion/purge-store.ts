import { type Queryable, type Stretch, sql, type Tx } from "@signalbox/storage";
import { firstIdAt } from "../audit/audit-entry.ts";

/** A purge that has started goes on, even if a longer retention was set since. */
const isDue = "status = 'deleted' and purged_at is null and (status_changed_at <= $1 or purge_begun_at is not null)";

const findDueAccount = sql(
  "purge.find-due",
  `select id, created_at as "createdAt" from accounts where ${isDue} order by status_changed_at limit 1`,
);

const beginPurge = sql(
  "purge.begin",
  `update accounts set purge_begun_at = coalesce(purge_begun_at, $3) where id = $2 and ${isDue}`,
);

/** Every table with an account id, except for the audit. Foreign keys refer to the account only. */
const tables = [
  "identities",
  "outgoing_mails",
  "notice_counts",
  "one_time_codes",
  "contact_links",
  "step_ups",
  "passkeys",
  "step_up_allowances",
  "api_keys",
  "service_clients",
  "portal_sessions",
  "oauth_issued_tokens",
  "oauth_state",
  "sign_in_grants",
  "sign_ins",
  "invitations",
  "first_links",
];
const erasures = [
  ...tables.map((table) => sql(`purge.${table}`, `delete from ${table} where account_id = $1`)),
  // They hold the address that the account was invited by.
  sql("purge.accepted-invitations", "delete from invitations where accepted_by = $1"),
];

/**
 * Entries of administrators stay as they are. Unnamed statements are planned with their values, and lock only the days
 * of the range.
 */
const eraseActors = sql(
  "",
  `update audit_entries set actor_address = null, actor_credential = 'erased', reason = null, request_id = null,
     trace_id = null
   where account_id = $1 and id >= $2 and id < $3 and actor_kind = 'owner'`,
);

/** The id can be computed from the login, and the issuer of a token knows its owner. */
const eraseSubjects = sql(
  "",
  "update audit_entries set subject = null where account_id = $1 and id >= $2 and id < $3 and subject is not null",
);

/** Finds the first account that was deleted at `deletedBefore` or earlier; null when none is due. */
export async function findDuePurge(
  db: Queryable,
  deletedBefore: Date,
): Promise<{ readonly id: string; readonly createdAt: Date } | null> {
  const { rows } = await db.query<{ id: string; createdAt: Date }>(findDueAccount, [deletedBefore]);
  return rows[0] ?? null;
}

/** Makes the deletion final, on any instance. Returns false when it is no longer due, such as after an undo. */
export async function startPurge(db: Queryable, accountId: string, deletedBefore: Date, now: Date): Promise<boolean> {
  return (await db.query(beginPurge, [deletedBefore, accountId, now])).rowCount === 1;
}

/** Erases every personal trace: logins, mails, codes, links, step-ups, keys, clients and the issuer's records. */
export async function eraseAccount(tx: Tx, accountId: string): Promise<void> {
  for (const statement of erasures) await tx.query(statement, [accountId]);
}

/**
 * Erases the owner's addresses, credentials, reasons and request ids, and the changed fields, from a range of the
 * audit.
 */
export async function eraseAudit(db: Queryable, accountId: string, { fromMs, toMs }: Stretch): Promise<void> {
  const stretch = [accountId, firstIdAt(fromMs), firstIdAt(toMs)];
  await db.query(eraseActors, stretch);
  await db.query(eraseSubjects, stretch);
}
