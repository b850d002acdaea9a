import { catalogue, webhookEventTypes } from "@signalbox/contracts";
import { entryLimit } from "@signalbox/core";
import { type Pool, type Queryable, sql, type Tx } from "@signalbox/storage";
import { LRUCache } from "lru-cache";

/** The names of events that an account can get: of the service, declared, and sent before. */
export interface KnownTypes {
  /** In the order of their characters, each once. */
  readonly names: readonly string[];
  /** False for an account that has sent more names than are remembered. */
  readonly isComplete: boolean;
}

/** Names that are remembered for each account. A partner chooses the names of its own webhooks, so they are bounded. */
const sentMax = 1_000;
/** Names that an instance knows to be stored. */
const notedMax = 100_000;

const serviceNames: ReadonlySet<string> = new Set(webhookEventTypes.map(({ name }) => name));
const guarded: ReadonlySet<string> = new Set(catalogue.flatMap(({ name, scope }) => (scope ? [name] : [])));
const subscribable = webhookEventTypes.filter(({ audience }) => audience === "account").map(({ name }) => name);

const ownNames = sql(
  "type-names.own",
  `select name, false as sent from event_types where account_id = $1
   union all select name, true from sent_event_types where account_id = $1`,
);
// In one order, so that two transactions with the same new names do not wait for each other.
const noteNames = sql(
  "type-names.note",
  `insert into sent_event_types (account_id, name, sent_at)
   select account_id, name, statement_timestamp() from unnest($1::text[], $2::text[]) as given (account_id, name)
   where (select count(*) from sent_event_types as s where s.account_id = given.account_id) < ${sentMax}
     and not exists (select from purged_accounts as p where p.account_id = given.account_id)
   order by account_id, name on conflict do nothing`,
);

interface NamedEvent {
  readonly accountId: string;
  readonly names: readonly string[];
}

/** The names that accounts and their partners give to events, so that a subscription to none of them is noticed. */
export class TypeNames {
  readonly #pool: Pool;
  readonly #noted = new LRUCache<string, true>(entryLimit(notedMax));

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async of(accountId: string, db: Queryable = this.#pool): Promise<KnownTypes> {
    const { rows } = await db.query<{ name: string; sent: boolean }>(ownNames, [accountId]);
    const names = [...new Set([...subscribable, ...rows.map(({ name }) => name)])].sort();
    return { names, isComplete: rows.filter(({ sent }) => sent).length < sentMax };
  }

  areNoted(events: readonly NamedEvent[]): boolean {
    return this.#unnotedOf(events).size === 0;
  }

  /** Records the names of events in the transaction that delivers them. Known names cost no statement. */
  async note(tx: Tx, events: readonly NamedEvent[]): Promise<void> {
    const fresh = this.#unnotedOf(events);
    if (fresh.size === 0) return;
    const pairs = [...fresh.values()];
    await tx.query(noteNames, [pairs.map(([accountId]) => accountId), pairs.map(([, name]) => name)]);
    tx.afterCommit(() => {
      for (const key of fresh.keys()) this.#noted.set(key, true);
    });
  }

  #unnotedOf(events: readonly NamedEvent[]) {
    const fresh = new Map<string, readonly [accountId: string, name: string]>();
    for (const { accountId, names } of events) {
      for (const name of names) {
        const key = `${accountId} ${name}`;
        if (!serviceNames.has(name) && !this.#noted.has(key)) fresh.set(key, [accountId, name]);
      }
    }
    return fresh;
  }
}

const shownMax = 10;

/** Counts the known types that a name, or a prefix that ends in `*`, matches, and returns the first of them. */
export function matchesOf(filter: string, known: KnownTypes) {
  // A prefix without a dot leaves out the types that need a scope.
  const names = filter.includes(".") ? known.names : known.names.filter((name) => !guarded.has(name));
  const prefix = filter.endsWith("*") ? filter.slice(0, -1) : null;
  const text = prefix ?? filter;
  const start = firstIndex(names, (name) => name >= text);
  const isBehind = (name: string) => (prefix === null ? name > text : name.slice(0, text.length) > text);
  const end = firstIndex(names, isBehind);
  return { count: end - start, types: names.slice(start, Math.min(end, start + shownMax)) };
}

/** Finds the first of sorted names from which on the condition holds. */
function firstIndex(names: readonly string[], holds: (name: string) => boolean): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(names[middle] ?? "")) high = middle;
    else low = middle + 1;
  }
  return low;
}
