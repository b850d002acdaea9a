import { type Clock, seconds } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";
import { isGone, type Pool, type Presence, sql } from "@signalbox/storage";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import { claimDeliveries, claimProbe, handBackDeliveries, type QueuePart } from "./delivery-queue.ts";

const register = sql("queue.register", "insert into delivery_instances (id) values ($1) on conflict do nothing");
const adopt = sql(
  "queue.adopt",
  `with former as (delete from delivery_instances where id = $1), present as (
     insert into delivery_instances (id) values ($2) on conflict do nothing)
   update delivery_queue set leased_by = $2 where leased_by = $1`,
);
const findDead = sql(
  "queue.find-dead",
  `select id from delivery_instances where id <> $1 and ${isGone("id")} limit 16`,
);
const takeOver = sql(
  "queue.take-over",
  `with gone as (delete from delivery_instances where id = any($1::int[]))
   update delivery_queue set due_at = statement_timestamp(), leased_by = null where leased_by = any($1::int[])`,
);
const releaseForgotten = sql(
  "",
  `update delivery_queue set due_at = statement_timestamp(), leased_by = null
   where leased_by = $1 and due_at < statement_timestamp() + $2::int * interval '1 ms' and delivery_id <> all ($3::text[])`,
);

/** A younger lease may not be in memory yet. */
const rememberedAfterMs = seconds(5);
/** Time after a failure in which lost leases are searched for. */
const suspectMs = seconds(15);

interface LeaseParts {
  readonly pool: Pool;
  readonly presence: Presence;
  readonly clock: Pick<Clock, "steadyMs">;
  readonly log: Logger;
  readonly leaseMs: number;
}

/** The leases of this instance, those whose change failed, and the take-over of those that nobody holds. */
export class Leases {
  readonly #parts: LeaseParts;
  /** Changes under way, by their start: one that never ends may have been committed. */
  readonly #open = new Set<{ readonly sinceMs: number }>();
  #suspectUntilMs = Number.NEGATIVE_INFINITY;
  #registered: number | null = null;
  #missed: ReadonlySet<number> = new Set();
  #isClosed = false;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
  }

  get leaseMs(): number {
    return this.#parts.leaseMs;
  }

  /** Id of this instance in leases; null while it may hold no new ones. */
  get instance(): number | null {
    const id = this.#parts.presence.id();
    return !this.#isClosed && id !== null && id === this.#registered ? id : null;
  }

  /** Registers the instance under its present id: leases are only taken over from registered instances. */
  async register(): Promise<void> {
    const { pool, presence } = this.#parts;
    const id = presence.id();
    if (id === null || id === this.#registered) return;
    if (this.#registered === null) await pool.query(register, [id]);
    else await pool.query(adopt, [this.#registered, id]);
    this.#registered = id;
  }

  /** Takes no new leases. The instance stays registered: a batch being inserted may still lease to it. */
  close(): void {
    this.#isClosed = true;
  }

  claim(
    rooms: ReadonlyMap<string, number>,
    instance: number,
    parts?: ReadonlyMap<string, QueuePart>,
  ): Promise<LeasedDelivery[]> {
    const { pool, leaseMs } = this.#parts;
    return this.#suspectOnFailure(claimDeliveries(pool, rooms, { leaseMs, instance }, parts));
  }

  claimProbe(endpointId: string, instance: number): Promise<LeasedDelivery[]> {
    const { pool, leaseMs } = this.#parts;
    return this.#suspectOnFailure(claimProbe(pool, endpointId, { leaseMs, instance }));
  }

  handBack(some: readonly LeasedDelivery[]): Promise<void> {
    return this.#suspectOnFailure(handBackDeliveries(this.#parts.pool, some));
  }

  /** Notes that a transaction is about to lease deliveries. The returned function says that they are in memory. */
  expect(): () => void {
    const change = { sinceMs: this.#parts.clock.steadyMs() };
    this.#open.add(change);
    return () => void this.#open.delete(change);
  }

  suspect(): void {
    this.#suspectUntilMs = this.#parts.clock.steadyMs() + suspectMs;
  }

  /**
   * Frees leases of this instance that are not in hand, because the answer to a claim or a hand-back was lost, and those
   * of dead instances. An instance that lost its connection may come back under another id, so it has to be missed
   * twice. Returns true when deliveries are due again.
   */
  async takeOver(inHand: () => readonly string[]): Promise<boolean> {
    const { pool, log } = this.#parts;
    const { instance } = this;
    if (instance === null) return false;
    const released = this.#areSuspect() ? await this.#releaseForgotten(instance, inHand()) : 0;
    const gone = (await pool.query<{ id: number }>(findDead, [instance])).rows.map(({ id }) => id);
    const again = gone.filter((id) => this.#missed.has(id));
    this.#missed = new Set(gone);
    if (again.length === 0) return released > 0;
    const { rowCount: deliveries } = await pool.query(takeOver, [again]);
    log.info({ deliveries }, "deliveries of dead instances were taken over");
    return true;
  }

  async #releaseForgotten(instance: number, inHand: readonly string[]): Promise<number> {
    const { pool, leaseMs } = this.#parts;
    return (await pool.query(releaseForgotten, [instance, leaseMs - rememberedAfterMs, inHand])).rowCount;
  }

  #areSuspect(): boolean {
    const nowMs = this.#parts.clock.steadyMs();
    for (const change of this.#open) {
      if (nowMs - change.sinceMs < rememberedAfterMs) continue;
      this.#open.delete(change);
      this.suspect();
    }
    return nowMs <= this.#suspectUntilMs;
  }

  async #suspectOnFailure<T>(change: Promise<T>): Promise<T> {
    try {
      return await change;
    } catch (error) {
      this.suspect();
      throw error;
    }
  }
}
