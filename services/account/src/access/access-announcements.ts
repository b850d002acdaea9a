import { type AccessStates, accessRecordOf, accessTopic } from "@signalbox/auth";
import { draft, type EventData } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import { type Outbox, stateRepetitionMs } from "@signalbox/events";
import { inTransaction, type Pool, sql, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";

type AccessChanged = EventData<"access.changed">;

/** A change of who may do what: an account's state or roles, or the end of a credential. */
interface AccessChange {
  readonly kind: AccessChanged["kind"];
  readonly id: string;
  readonly accountId: string;
  readonly state: AccessChanged["state"];
  readonly epoch: number;
  /** Of an account: tokens of other issuers that were issued until then are not accepted. */
  readonly notBefore?: Date | null;
}

interface AccessDependencies {
  readonly pool: Pool;
  readonly outbox: Pick<Outbox, "append" | "forget">;
  readonly clock: Clock;
  /** What this process lets people in by; left out where nobody comes in. */
  readonly accessStates?: Pick<AccessStates, "apply"> | undefined;
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
 * An entry is live while somebody could still act on older knowledge: a blocked account is until its purge, and any
 * change for a week, which is longer than tokens last and than what services remember.
 */
const isLive = (now: string) => `(changed_at > ${now}::timestamptz - interval '7 days' or (
  state <> 'active' and subject like 'account:%'
  and exists (select 1 from accounts where accounts.id = access_entries.account_id and purged_at is null)))`;

/** Of so many events that are late one may be of a change: it is not worth the time to look. */
const lateMax = 1_000;
/** The relay has an event on a log that is well within milliseconds. */
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

/** Keeps one transaction, and with it the outbox of other writers, short. */
const batch = 200;

export type AccessAnnouncements = ReturnType<typeof createAccessAnnouncements>;

/**
 * Announces on the state topic `signalbox.access.v1` who may do what. Rows are locked before their events are appended, so
 * epochs leave in order. This process knows of a change before the request that made it is answered.
 */
export function createAccessAnnouncements({ pool, outbox, clock, accessStates }: AccessDependencies) {
  return {
    announce,
    announceAccount,

    /**
     * Makes every service ask again who the account's credentials are, since something about one of them has changed.
     * Answers the account with its next epoch, for the caller to save. The announcement is of the account and not of the
     * one credential: the state topic then has as many keys as accounts, however often people prove who they are.
     */
    async invalidate(tx: Tx, account: Account): Promise<Account> {
      const next = { ...account, accessEpoch: account.accessEpoch + 1 };
      await announceAccount(tx, next);
      return next;
    },

    /** Whether a change that was committed is not on the state topic half a second later. */
    hasUnannounced: () => findLate(pool),

    /**
     * Announces every live entry again, once an hour, and forgets those that are over; answers how many were announced. A log
     * that lost its newest records, or is a new one, learns of suspensions this way, and does not grow with every token.
     * Several instances share the work, and a repeated entry changes nothing.
     */
    async repeat(): Promise<number> {
      const now = clock.now();
      await inBatches(pool, async (tx) => {
        const { rows } = await tx.query<Pick<Row, "subject">>(deletePastEntries, [now, batch]);
        const subjects = rows.map(({ subject }) => subject);
        await outbox.forget(tx, "access.changed", subjects);
        return subjects.length;
      });
      const before = new Date(now.getTime() - stateRepetitionMs);
      return inBatches(pool, async (tx) => {
        const { rows } = await tx.query<Row>(takeLiveEntries, [before, now, batch]);
        await outbox.append(tx, rows.map(accessChanged));
        return rows.length;
      });
    },
  };

  /** Announces the change, in its transaction, and keeps it for the hourly repetition. */
  async function announce(tx: Tx, change: AccessChange): Promise<void> {
    const { kind, id, accountId, state, epoch, notBefore = null } = change;
    const row: Row = { subject: `${kind}:${id}`, accountId, state, epoch, notBefore, changedAt: clock.now() };
    await tx.query(saveEntry, [row.subject, accountId, state, epoch, notBefore, row.changedAt]);
    const event = accessChanged(row);
    await outbox.append(tx, [event]);
    const record = accessRecordOf(event.data);
    if (record) tx.afterCommit(() => accessStates?.apply(record));
  }

  /** Announces the state that the account has now, in the transaction that saves it. */
  async function announceAccount(tx: Tx, account: Account): Promise<void> {
    const { id, status: state, accessEpoch: epoch, signedOutAt: notBefore } = account;
    await announce(tx, { kind: "account", id, accountId: id, state, epoch, notBefore });
  }
}

async function findLate(pool: Pool): Promise<boolean> {
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
    ...{ kind, id, account_id: accountId, state, epoch, changed_at: changedAt.toISOString() },
    ...(notBefore && { not_before: notBefore.toISOString() }),
  };
  return draft("access.changed", { subject, accountId, data });
}
