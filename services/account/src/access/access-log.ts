import { draft, type EventData } from "@signalbox/contracts";
import type { Outbox } from "@signalbox/events";
import { sql, type Tx } from "@signalbox/storage";

type AccessChanged = EventData<"access.changed">;

/** What changed about who may do what: an account's state or roles, or that a key ended. */
interface AccessChange {
  readonly kind: AccessChanged["kind"];
  readonly id: string;
  readonly accountId: string;
  readonly state: AccessChanged["state"];
  readonly epoch: number;
}

export interface AccessLog {
  /** Says it on the state topic, with the change, and remembers it for the hourly repetition. */
  announce(tx: Tx, change: AccessChange, at: Date): Promise<void>;
  /** Forgets up to `limit` entries that nobody could act against any more; the number that it found. */
  forget(tx: Tx, options: { readonly now: Date; readonly limit: number }): Promise<number>;
  /** Says again up to `limit` entries that were last said before `before`; the number that it found. */
  repeat(tx: Tx, options: { readonly before: Date; readonly now: Date; readonly limit: number }): Promise<number>;
}

interface Row {
  readonly subject: string;
  readonly accountId: string;
  readonly state: AccessChange["state"];
  readonly epoch: number;
  readonly changedAt: Date;
}

const saveEntry = sql(
  "access.save",
  `insert into access_entries (subject, account_id, state, epoch, changed_at, appended_at)
   values ($1, $2, $3, $4, $5, $5)
   on conflict (subject) do update set state = excluded.state, epoch = excluded.epoch,
     changed_at = excluded.changed_at, appended_at = excluded.appended_at`,
);

/**
 * An entry is live while somebody could still act on older knowledge: a blocked account is until its purge, and any
 * change for a week, which is longer than tokens last and than what services remember.
 */
const isLive = (now: string) => `(changed_at > ${now}::timestamptz - interval '7 days' or (
  state <> 'active' and subject like 'account:%'
  and exists (select 1 from accounts where accounts.id = access_entries.account_id and purged_at is null)))`;

const takeLiveEntries = sql(
  "access.take-live",
  `update access_entries set appended_at = $2
   where subject in (
     select subject from access_entries
     where appended_at <= $1 and ${isLive("$2")}
     order by appended_at limit $3 for update skip locked)
   returning subject, account_id as "accountId", state, epoch, changed_at as "changedAt"`,
);

const deletePastEntries = sql(
  "access.delete-past",
  `delete from access_entries
   where subject in (select subject from access_entries where not ${isLive("$1")} limit $2 for update skip locked)
   returning subject`,
);

/** The state topic `signalbox.access.v1`. Rows are locked before their events are appended, so epochs leave in order. */
export function createAccessLog({ outbox }: { readonly outbox: Pick<Outbox, "append" | "forget"> }): AccessLog {
  return {
    async announce(tx, { kind, id, accountId, state, epoch }, at) {
      const row: Row = { subject: `${kind}:${id}`, accountId, state, epoch, changedAt: at };
      await tx.query(saveEntry, [row.subject, accountId, state, epoch, at]);
      await outbox.append(tx, [accessChanged(row)]);
    },
    async forget(tx, { now, limit }) {
      const { rows } = await tx.query<Pick<Row, "subject">>(deletePastEntries, [now, limit]);
      const subjects = rows.map(({ subject }) => subject);
      await outbox.forget(tx, "access.changed", subjects);
      return subjects.length;
    },
    async repeat(tx, { before, now, limit }) {
      const { rows } = await tx.query<Row>(takeLiveEntries, [before, now, limit]);
      await outbox.append(tx, rows.map(accessChanged));
      return rows.length;
    },
  };
}

function accessChanged({ subject, accountId, state, epoch, changedAt }: Row) {
  const [kind, id] = subject.split(/:(.*)/s) as [AccessChanged["kind"], string];
  const data = { kind, id, account_id: accountId, state, epoch, changed_at: changedAt.toISOString() };
  return draft("access.changed", { subject, accountId, data });
}
