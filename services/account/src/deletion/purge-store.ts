import { type Pool, type Queryable, sql, type Tx } from "@signalbox/storage";
import { firstIdAt, type Stretch } from "../audit/audit-days.ts";

export interface PurgeStore {
  /** An account that was deleted at `deletedBefore` or earlier, the first of them; null when nothing is due. */
  findDue(deletedBefore: Date): Promise<{ readonly id: string; readonly createdAt: Date } | null>;
  /** Makes its deletion final, by any instance; false when it is due no more, such as after its undo. */
  begin(accountId: string, deletedBefore: Date, now: Date): Promise<boolean>;
  /** Removes what leads back to a person: logins, mails, codes, links, step-ups, keys, clients and what the issuer keeps. */
  erase(tx: Tx, accountId: string): Promise<void>;
  /** Removes addresses, credentials and reasons of the owner, and what was touched, from a stretch of the audit. */
  eraseAudit(db: Queryable, accountId: string, stretch: Stretch): Promise<void>;
}

/** A purge that has begun goes on, also after a longer retention was set. */
const isDue = "status = 'deleted' and purged_at is null and (status_changed_at <= $1 or purge_begun_at is not null)";

const findDueAccount = sql(
  "purge.find-due",
  `select id, created_at as "createdAt" from accounts where ${isDue} order by status_changed_at limit 1`,
);

const beginPurge = sql(
  "purge.begin",
  `update accounts set purge_begun_at = coalesce(purge_begun_at, $3) where id = $2 and ${isDue}`,
);

const deleteIdentities = sql("purge.identities", "delete from identities where account_id = $1");
const deleteMails = sql("purge.mails", "delete from outgoing_mails where account_id = $1");
const deleteCodes = sql("purge.codes", "delete from one_time_codes where account_id = $1");
const deleteLinks = sql("purge.contact-links", "delete from contact_links where account_id = $1");
const deleteStepUps = sql("purge.step-ups", "delete from step_ups where account_id = $1");
const deleteKeys = sql("purge.api-keys", "delete from api_keys where account_id = $1");
const deleteClients = sql("purge.service-clients", "delete from service_clients where account_id = $1");
const deleteIssuedTokens = sql("purge.oauth-issued-tokens", "delete from oauth_issued_tokens where account_id = $1");
const deleteOauthState = sql("purge.oauth-state", "delete from oauth_state where account_id = $1");

/** What administrators did stays as it is. Without names they are planned with their values, and lock the days in between alone. */
const eraseActors = sql(
  "",
  `update audit_entries set actor_address = null, actor_credential = 'erased', reason = null
   where account_id = $1 and id >= $2 and id < $3 and actor_kind = 'owner'`,
);

/** Whoever knows a login can work out its id, and the issuer of a token knows whose it was. */
const eraseSubjects = sql(
  "",
  "update audit_entries set subject = null where account_id = $1 and id >= $2 and id < $3 and subject is not null",
);

const erasures = [
  deleteIdentities,
  deleteMails,
  deleteCodes,
  deleteLinks,
  deleteStepUps,
  deleteKeys,
  deleteClients,
  deleteIssuedTokens,
  deleteOauthState,
];

export function createPurgeStore({ pool }: { readonly pool: Pool }): PurgeStore {
  return {
    async findDue(deletedBefore) {
      const { rows } = await pool.query<{ id: string; createdAt: Date }>(findDueAccount, [deletedBefore]);
      return rows[0] ?? null;
    },
    async begin(accountId, deletedBefore, now) {
      return (await pool.query(beginPurge, [deletedBefore, accountId, now])).rowCount === 1;
    },
    async erase(tx, accountId) {
      for (const statement of erasures) await tx.query(statement, [accountId]);
    },
    async eraseAudit(db, accountId, { fromMs, toMs }) {
      const stretch = [accountId, firstIdAt(fromMs), firstIdAt(toMs)];
      await db.query(eraseActors, stretch);
      await db.query(eraseSubjects, stretch);
    },
  };
}
