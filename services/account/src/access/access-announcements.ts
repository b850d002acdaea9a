import { accessRecordOf, accessTopic } from "@signalbox/auth";
import { draft, type EventData } from "@signalbox/contracts";
import { stateRepetitionMs } from "@signalbox/events";
import { inTransaction, type Pool, sql, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccountService } from "../context/account-service.ts";

type AccessChanged = EventData<"access.changed">;

/** A change of access: an account's state or roles, or the end of a credential. */
interface AccessChange {
  readonly kind: AccessChanged["kind"];
  readonly id: string;
  readonly accountId: string;
  readonly state: AccessChanged["state"];
  readonly epoch: number;
  /** Accounts only: tokens of other issuers that were issued at or before this time are refused. */
  readonly notBefore?: Date | null;
}

interface Row {
  readonly subject: string;
  readonly accountId: string;
  readonly state: AccessChange["state"];
  readonly epoch: number;
  readonly notBefore: Date | null;
  readonly changedAt: Date;
}

const saveEntry = sql(
  "access.save",
  `insert into access_entries (subject, account_id, state, epoch, not_before, changed_at, appended_at)
   values ($1, $2, $3, $4, $5, $6, $6)
   on conflict (subject) do update set state = excluded.state, epoch = excluded.epoch, not_before = excluded.not_before,
     changed_at = excluded.changed_at, appended_at = excluded.appended_at`,
);

/**
 * An entry is live while older knowledge could still do harm: a blocked account's until its purge, any other change's
 * for a week, which is longer than tokens live and than services cache.
 */
const isLive = (now: string) => `(changed_at > ${now}::timestamptz - interval '7 days' or (
  state <> 'active' and subject like 'account:%'
  and exists (select 1 from accounts where accounts.id = access_entries.account_id and purged_at is null)))`;

/** With this many late events one of them may be an access change: searching for it is not worth the time. */
const lateMax = 1_000;
/** A working relay publishes an event within milliseconds. */
const findUnannounced = sql(
  "access.unannounced",
  `select count(*) = ${lateMax} or coalesce(bool_or(topic = '${accessTopic}'), false) as found
   from (select topic, created_at from signalbox.outbox order by id limit ${lateMax}) as oldest
   where created_at < clock_timestamp() - interval '500 ms'`,
);

const takeLiveEntries = sql(
  "access.take-live",
  `update access_entries set appended_at = $2
   where subject in (
     select subject from access_entries
     where appended_at <= $1 and ${isLive("$2")}
     order by appended_at limit $3 for update skip locked)
   returning subject, account_id as "accountId", state, epoch, not_before as "notBefore", changed_at as "changedAt"`,
);

const deletePastEntries = sql(
  "access.delete-past",
  `delete from access_entries
   where subject in (select subject from access_entries where not ${isLive("$1")} limit $2 for update skip locked)
   returning subject`,
);

/** Keeps each transaction short, and with it the wait of other outbox writers. */
const batch = 200;

// Announces changes of access on the state topic `signalbox.access.v1`. Rows are locked before their events are
// appended, so epochs leave in order. This process applies a change before the request that made it is answered.

/**
 * Makes every service look up the account's credentials again, after a change of one of them. Returns the account
 * with its next epoch; the caller saves it. The announcement names the account and not the credential, so the state
 * topic has one key per account, however often people step up.
 */
export async function invalidateAccess(service: AccountService, tx: Tx, account: Account): Promise<Account> {
  const next = { ...account, accessEpoch: account.accessEpoch + 1 };
  await announceAccount(service, tx, next);
  return next;
}

/**
 * Announces every live entry again, once an hour, deletes those that are over, and returns the number announced. A
 * log that lost its newest records learns of suspensions this way, and does not grow with every token. Several
 * instances share the work; a repeated entry changes nothing. With an age, repeats every entry that was last
 * announced that long ago: for a topic that was made again.
 */
export async function repeatAccess(
  { clock, pool, outbox }: AccountService,
  ageMs = stateRepetitionMs,
): Promise<number> {
  const now = clock.now();
  await inBatches(pool, async (tx) => {
    const { rows } = await tx.query<{ subject: string }>(deletePastEntries, [now, batch]);
    const subjects = rows.map(({ subject }) => subject);
    await outbox.forget(tx, "access.changed", subjects);
    return subjects.length;
  });
  const before = new Date(now.getTime() - ageMs);
  return inBatches(pool, async (tx) => {
    const { rows } = await tx.query<Row>(takeLiveEntries, [before, now, batch]);
    await outbox.append(tx, rows.map(accessChanged));
    return rows.length;
  });
}

/** Announces the change in the caller's transaction, and keeps it for the hourly repetition. */
export async function announceAccess(
  { clock, outbox, accessStates }: AccountService,
  tx: Tx,
  change: AccessChange,
): Promise<void> {
  const { kind, id, accountId, state, epoch, notBefore = null } = change;
  const row: Row = { subject: `${kind}:${id}`, accountId, state, epoch, notBefore, changedAt: clock.now() };
  await tx.query(saveEntry, [row.subject, accountId, state, epoch, notBefore, row.changedAt]);
  const event = accessChanged(row);
  await outbox.append(tx, [event]);
  const record = accessRecordOf(event.data);
  if (record) tx.afterCommit(() => accessStates?.apply(record));
}

/** Announces the account's present state in the transaction that saves it. */
export async function announceAccount(service: AccountService, tx: Tx, account: Account): Promise<void> {
  const { id, status: state, accessEpoch: epoch, signedOutAt: notBefore } = account;
  await announceAccess(service, tx, { kind: "account", id, accountId: id, state, epoch, notBefore });
}

/** Returns true when a committed change is still missing from the state topic after half a second. */
export async function hasUnannouncedAccess(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ found: boolean }>(findUnannounced, []);
  return rows[0]?.found === true;
}

async function inBatches(pool: Pool, work: (tx: Tx) => Promise<number>): Promise<number> {
  let total = 0;
  for (;;) {
    const found = await inTransaction(pool, work);
    total += found;
    if (found < batch) return total;
  }
}

function accessChanged({ subject, accountId, state, epoch, notBefore, changedAt }: Row) {
  const [kind, id] = subject.split(/:(.*)/s) as [AccessChanged["kind"], string];
  const data = {
    kind,
    id,
    account_id: accountId,
    state,
    epoch,
    changed_at: changedAt.toISOString(),
    ...(notBefore && { not_before: notBefore.toISOString() }),
  };
  return draft("access.changed", { subject, accountId, data });
}
