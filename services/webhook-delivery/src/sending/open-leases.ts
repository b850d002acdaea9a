import { type Pool, sql } from "@signalbox/storage";

interface Holder {
  readonly consumerId: string;
  readonly leaseIds: Set<string>;
  readonly onEnd: () => void;
}

export interface HeldLeases {
  readonly size: number;
  add(leaseId: string): void;
  end(): void;
}

const live = sql(
  "",
  `select lease_id as "leaseId" from delivery_queue
   where endpoint_id = any ($1::text[]) and lease_id = any ($2::text[]) and due_at > statement_timestamp()`,
);

/** The leases that the streams of this instance have out. One look for all finds those that ended elsewhere. */
export class OpenLeases {
  readonly #pool: Pool;
  readonly #holders = new Map<string, Holder>();
  readonly #consumers = new Map<string, number>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  begin(consumerId: string, onEnd: () => void): HeldLeases {
    const holder: Holder = { consumerId, leaseIds: new Set(), onEnd };
    this.#consumers.set(consumerId, (this.#consumers.get(consumerId) ?? 0) + 1);
    return {
      get size(): number {
        return holder.leaseIds.size;
      },
      add: (leaseId: string): void => {
        holder.leaseIds.add(leaseId);
        this.#holders.set(leaseId, holder);
      },
      end: (): void => {
        for (const leaseId of holder.leaseIds) this.#holders.delete(leaseId);
        const left = (this.#consumers.get(consumerId) ?? 1) - 1;
        if (left > 0) this.#consumers.set(consumerId, left);
        else this.#consumers.delete(consumerId);
      },
    };
  }

  ended(leaseIds: Iterable<string>): void {
    const told = new Set<Holder>();
    for (const leaseId of leaseIds) {
      const holder = this.#holders.get(leaseId);
      if (holder === undefined) continue;
      this.#holders.delete(leaseId);
      holder.leaseIds.delete(leaseId);
      told.add(holder);
    }
    for (const { onEnd } of told) onEnd();
  }

  async look(): Promise<void> {
    const known = [...this.#holders.keys()];
    if (known.length === 0) return;
    const { rows } = await this.#pool.query<{ leaseId: string }>(live, [[...this.#consumers.keys()], known]);
    const left = new Set(rows.map(({ leaseId }) => leaseId));
    this.ended(known.filter((leaseId) => !left.has(leaseId)));
  }
}
