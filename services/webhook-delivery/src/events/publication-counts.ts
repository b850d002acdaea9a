import type { Caller } from "@signalbox/auth";
import { type Clock, hours, minutes } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { inTransaction, type Pool, sql } from "@signalbox/storage";

interface Publications {
  readonly accountId: string;
  readonly credential: string;
  readonly hour: Date;
  readonly events: number;
}

/** The time that instances get to save the last counts of an hour. A count that comes later is another entry. */
const graceMs = minutes(5);
const entriesMax = 500;

const save = sql(
  "publication-counts.save",
  `insert into published_hours (hour, account_id, credential, events)
   select * from unnest($1::timestamptz[], $2::text[], $3::text[], $4::int[])
   on conflict (hour, account_id, credential) do update set events = published_hours.events + excluded.events`,
);
const takeEnded = sql(
  "publication-counts.take-ended",
  `with ended as (
     select hour, account_id, credential from published_hours where hour <= $1 order by hour
     limit ${entriesMax} for update skip locked)
   delete from published_hours as p using ended as e
   where p.hour = e.hour and p.account_id = e.account_id and p.credential = e.credential
   returning p.hour, p.account_id as "accountId", p.credential, p.events`,
);

/** Counts publications for the audit, an entry per credential and hour. A killed instance loses its unsaved counts. */
export class PublicationCounts {
  readonly #pool: Pool;
  readonly #clock: Clock;
  #unsaved = new Map<string, Publications>();

  constructor(pool: Pool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  count({ accountId, credential }: Caller, events: number): void {
    if (events === 0) return;
    const hour = new Date(Math.floor(this.#clock.nowMs() / hours(1)) * hours(1));
    this.#add({ accountId, credential: credential.id, hour, events });
  }

  /** Saves the counts, and keeps them for the next time when that fails. */
  async save(): Promise<void> {
    const counts = [...this.#unsaved.values()];
    if (counts.length === 0) return;
    this.#unsaved = new Map();
    const columns = (["hour", "accountId", "credential", "events"] as const).map((name) =>
      counts.map((count) => count[name]),
    );
    try {
      await this.#pool.query(save, columns);
    } catch (error) {
      for (const count of counts) this.#add(count);
      throw error;
    }
  }

  #add(more: Publications): void {
    const name = JSON.stringify([more.accountId, more.credential, more.hour]);
    this.#unsaved.set(name, { ...more, events: (this.#unsaved.get(name)?.events ?? 0) + more.events });
  }
}

/** Writes the audit entries of hours that have ended; returns "again" while there may be more. */
export async function reportPublications(pool: Pool, outbox: Pick<Outbox, "append">, clock: Clock) {
  const before = new Date(clock.nowMs() - hours(1) - graceMs);
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<Publications>(takeEnded, [before]);
    await outbox.append(tx, rows.map(entryOf));
    return rows.length === entriesMax ? "again" : "done";
  });
}

function entryOf({ accountId, credential, hour, events }: Publications) {
  const by = { kind: "owner", accountId, credential, address: null, requestId: null } as const;
  const reason = `${events} in the hour from ${hour.toISOString()}`;
  return audited(by, { action: "webhook_event.publish", reason });
}
