import { MiB } from "@signalbox/core";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import { firstLimit } from "./concurrency-limit.ts";
import { type DeliveryState, type DeliveryStep, stateAfter } from "./delivery-states.ts";
import { Shares } from "./shares.ts";

/** Limits of the deliveries that this instance holds in memory, recorded or not. */
const deliveriesMax = 8_192;
/** Part of it for accounts that hold next to nothing. */
const reserved = 1_024;
const bytesMax = 64 * MiB;
/** Deliveries of one account to one host: enough for eight rounds of the default places of a host. */
const perHostMax = 512;
/** Deliveries that an account may always hold while the reserve lasts. */
const leastPerAccount = firstLimit;

export interface Load {
  readonly accountId: string;
  readonly host: string;
}

export type Take = (load: Load, count: number, bytes: number) => void;

interface Held extends Load {
  readonly bytes: number;
  state: DeliveryState;
}

/** Room in memory for leased deliveries. Receivers that hang keep theirs for long, so no account fills it alone. */
export class MemoryBudget {
  readonly #held = new Map<LeasedDelivery, Held>();
  readonly #deliveries = new Shares(deliveriesMax - reserved, 1);
  readonly #bytes = new Shares(bytesMax, 1);
  readonly #hosts = new Map<string, number>();
  #isClosed = false;

  of({ accountId, host }: Load): number {
    const atHost = perHostMax - (this.#hosts.get(`${accountId} ${host}`) ?? 0);
    return Math.max(0, Math.min(atHost, this.ofAccount(accountId)));
  }

  ofAccount(accountId: string): number {
    if (this.#isClosed) return 0;
    const shared = this.#bytes.roomOf(accountId) > 0 ? this.#deliveries.roomOf(accountId) : 0;
    const least = Math.min(
      leastPerAccount - this.#deliveries.heldBy(accountId),
      deliveriesMax - this.#deliveries.total,
    );
    return Math.max(0, shared, least);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Leaves no room from now on: what would be loaded stays in the queue. */
  close(): void {
    this.#isClosed = true;
  }

  /** Runs a plan; what it takes counts until its end, so that its own loads share the room. */
  plan<T>(work: (take: Take) => T): T {
    const taken: (readonly [Load, number, number])[] = [];
    try {
      return work((load, count, bytes) => {
        taken.push([load, count, bytes]);
        this.#add(load, count, bytes);
      });
    } finally {
      for (const [load, count, bytes] of taken) this.#add(load, -count, -bytes);
    }
  }

  ids(): string[] {
    return [...this.#held.keys()].map(({ id }) => id);
  }

  /** Moves a leased delivery to its next state; it counts here until it is away. @throws Error for a step out of turn. */
  move(delivery: LeasedDelivery, step: DeliveryStep, host: string): void {
    const held = this.#held.get(delivery);
    const state = stateAfter(held?.state ?? "away", step);
    if (!held) {
      const { accountId, body } = delivery;
      this.#held.set(delivery, { accountId, host, bytes: body.length, state });
      this.#add({ accountId, host }, 1, body.length);
    } else if (state === "away") {
      this.#held.delete(delivery);
      this.#add(held, -1, -held.bytes);
    } else held.state = state;
  }

  #add({ accountId, host }: Load, count: number, bytes: number): void {
    this.#deliveries.add(accountId, count);
    this.#bytes.add(accountId, bytes);
    const place = `${accountId} ${host}`;
    const atHost = (this.#hosts.get(place) ?? 0) + count;
    if (atHost > 0) this.#hosts.set(place, atHost);
    else this.#hosts.delete(place);
  }
}
