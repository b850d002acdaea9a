import { sql, type Tx } from "@signalbox/storage";

export interface PurgeStore {
  /** The id of an account that was deleted at `deletedBefore` or earlier, locked; null when nothing is due. */
  takeDue(tx: Tx, deletedBefore: Date): Promise<string | null>;
  /** Removes what leads back to a person: logins, mails and codes, keys, and addresses and credentials in the audit. */
  erase(tx: Tx, accountId: string): Promise<void>;
}

const takeDueAccount = sql(
  "purge.take-due",
  `select id from accounts where status = 'deleted' and purged_at is null and status_changed_at <= $1
   order by status_changed_at limit 1 for update skip locked`,
);

const deleteIdentities = sql("purge.identities", "delete from identities where account_id = $1");
const deleteMails = sql("purge.mails", "delete from outgoing_mails where account_id = $1");
const deleteCodes = sql("purge.codes", "delete from one_time_codes where account_id = $1");
const deleteKeys = sql("purge.api-keys", "delete from api_keys where account_id = $1");

/** What administrators did stays as it is. */
const eraseActors = sql(
  "purge.audit",
  `update audit_entries set actor_address = null, actor_credential = 'erased', reason = null
   where account_id = $1 and actor_kind = 'owner'`,
);

export function createPurgeStore(): PurgeStore {
  return {
    async takeDue(tx, deletedBefore) {
      const { rows } = await tx.query<{ id: string }>(takeDueAccount, [deletedBefore]);
      return rows[0]?.id ?? null;
    },
    async erase(tx, accountId) {
      for (const statement of [deleteIdentities, deleteMails, deleteCodes, deleteKeys, eraseActors]) {
        await tx.query(statement, [accountId]);
      }
    },
  };
}
