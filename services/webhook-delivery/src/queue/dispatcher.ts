import type { Clock } from "@signalbox/core";
import { seconds } from "@signalbox/core";
import { isProxyError } from "@signalbox/net";
import type { Logger, Outage } from "@signalbox/telemetry";
import type { SigningEndpoint } from "../endpoints/endpoint-directory.ts";
import type { Attempted, attemptDelivery } from "./attempt-delivery.ts";
import type { AttemptResults } from "./attempt-results.ts";
import type { DeliveryQueue, LeasedDelivery } from "./delivery-queue.ts";
import { firstLoad, hostOf, type InHand, Lane } from "./lane.ts";
import { MemoryRoom } from "./memory-room.ts";
import { Shares } from "./shares.ts";

export interface DispatcherDependencies {
  readonly attempt: (delivery: LeasedDelivery, endpoint: SigningEndpoint) => ReturnType<typeof attemptDelivery>;
  readonly results: Pick<AttemptResults, "add">;
  readonly deliveryQueue: Pick<DeliveryQueue, "handBack">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly leaseMs: number;
  /** Longest time of an attempt, its record included. */
  readonly attemptMsMax: () => number;
  /** Largest number of concurrent attempts, each on a connection. */
  readonly inFlightMax: number;
  readonly inFlightMaxPerEndpoint: number;
  readonly inFlightMaxPerHost: number;
  /** Reports to the worker that an endpoint has no deliveries left in memory. */
  readonly onEmpty: (endpointId: string) => void;
  /** Reports to the worker that deliveries of an endpoint went back into the queue. */
  readonly onHandedBack: (endpointId: string) => void;
}

/** Endpoints whose measured limits are remembered while they are idle. */
const lanesMax = 10_000;
/** Safety margin before a lease expires and another instance takes the delivery. */
const leaseMarginMs = seconds(5);
/** Share of all places that slow endpoints may use together. */
const slowShare = 0.25;
/** One account may hold seven times as many places as are free, alone seven of eight: the rest is for others. */
const placeFactor = 7;

/**
 * Makes attempts, limited in total, per endpoint and per host. Slow endpoints share a part of the places, and accounts
 * share all of them, because a receiver that hangs holds its places for a whole timeout.
 */
export class Dispatcher {
  readonly #parts: DispatcherDependencies;
  readonly #proxyOutage: Outage;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with deliveries in memory and room for another attempt. */
  readonly #ready = new Set<Lane>();
  /** Places in use by host, shared by accounts. */
  readonly #hosts = new Map<string, Shares>();
  readonly #places: Shares;
  readonly #slowPlaces: Shares;
  readonly #running = new Set<Promise<void>>();
  /** Deliveries in memory, recorded or not. */
  readonly room = new MemoryRoom();

  constructor(parts: DispatcherDependencies) {
    this.#parts = parts;
    this.#places = new Shares(parts.inFlightMax, placeFactor);
    this.#slowPlaces = new Shares(parts.inFlightMax * slowShare, placeFactor);
    this.#proxyOutage = parts.log.outage("The outbound proxy");
  }

  /**
   * Returns the number of deliveries of an endpoint that may be taken from the queue; `atOnce` leaves out those that
   * would wait in memory.
   */
  roomOf(endpointId: string, atOnce: boolean): number {
    const lane = this.#lanes.get(endpointId);
    if (lane === undefined) return firstLoad;
    return atOnce ? lane.roomAtOnce : lane.room;
  }

  /** Returns the number of new deliveries that the endpoint may get without the queue. */
  firstRoomOf(endpointId: string): number {
    return this.#lanes.get(endpointId)?.firstRoom ?? firstLoad;
  }

  /** Returns the endpoints with deliveries in memory. */
  endpoints(): SigningEndpoint[] {
    return [...this.#lanes.values()].filter(({ waiting }) => waiting > 0).map(({ endpoint }) => endpoint);
  }

  /** Returns the ids of the deliveries that this instance believes to have leased. */
  inHand(): string[] {
    return this.room.ids();
  }

  /** Counts a delivery as in hand, until `forget`. */
  hold(delivery: LeasedDelivery, endpoint: Pick<SigningEndpoint, "url">): void {
    this.room.hold(delivery, hostOf(endpoint.url));
  }

  forget(delivery: LeasedDelivery): void {
    this.room.forget(delivery);
  }

  /**
   * Accepts leased deliveries of an endpoint, in their order. Those past the account's share go back to the queue: plans
   * that were made side by side did not see each other.
   */
  add(endpoint: SigningEndpoint, deliveries: readonly LeasedDelivery[]): void {
    const { clock, leaseMs, attemptMsMax } = this.#parts;
    const lane = this.#laneOf(endpoint);
    const startUntilMs = clock.steadyMs() + leaseMs - attemptMsMax() - leaseMarginMs;
    const { host } = lane;
    const pastShare: InHand[] = [];
    for (const delivery of deliveries) {
      const inHand = { delivery, startUntilMs };
      if (pastShare.length > 0 || this.room.of({ accountId: delivery.accountId, host }) <= 0) {
        pastShare.push(inHand);
        continue;
      }
      lane.add(inHand);
      this.room.hold(delivery, host);
    }
    this.#returnToQueue(lane, pastShare);
    this.#schedule(lane);
    this.#pump();
  }

  /**
   * Continues with the new state of an endpoint. With null, or one that is not enabled, its deliveries go back to the
   * queue.
   */
  async update(id: string, endpoint: SigningEndpoint | null): Promise<void> {
    const lane = this.#lanes.get(id);
    if (lane === undefined) return;
    if (endpoint?.status === "enabled") this.#laneOf(endpoint);
    else await this.#handBack(lane.takeAll());
  }

  /** Starts no more attempts, hands back waiting deliveries, and resolves when every running attempt is recorded. */
  async stop(): Promise<void> {
    this.room.close();
    await this.#handBack([...this.#lanes.values()].flatMap((lane) => lane.takeAll()));
    await Promise.all(this.#running);
  }

  #laneOf(endpoint: SigningEndpoint): Lane {
    const max = Math.min(
      endpoint.settings.max_in_flight ?? this.#parts.inFlightMaxPerEndpoint,
      this.#parts.inFlightMaxPerEndpoint,
    );
    const known = this.#lanes.get(endpoint.id);
    if (known) {
      known.endpoint = endpoint;
      known.limit.max = max;
      return known;
    }
    const lane = new Lane(endpoint, max);
    this.#lanes.set(endpoint.id, lane);
    return lane;
  }

  #schedule(lane: Lane): void {
    if (lane.waiting > 0 && !lane.isFull) this.#ready.add(lane);
    else this.#ready.delete(lane);
  }

  /** Starts attempts while there is room, one of each lane in turn. */
  #pump(): void {
    if (this.room.isClosed) return;
    // A lane that is re-added to the end of the set is visited again in this pass.
    for (const lane of this.#ready) {
      if (this.#places.total >= this.#parts.inFlightMax) return;
      if (!this.#hasPlace(lane)) continue;
      const next = lane.take();
      this.#ready.delete(lane);
      if (next) this.#begin(lane, next);
      this.#schedule(lane);
    }
  }

  #hasPlace(lane: Lane): boolean {
    const { accountId } = lane.endpoint;
    if (this.#places.roomOf(accountId) === 0) return false;
    if (lane.limit.isSlow && this.#slowPlaces.roomOf(accountId) === 0) return false;
    return this.#hosts.get(lane.host)?.roomOf(accountId) !== 0;
  }

  #begin(lane: Lane, inHand: InHand): void {
    const { clock } = this.#parts;
    const { delivery, startUntilMs } = inHand;
    const work = clock.steadyMs() > startUntilMs ? this.#handBack([inHand]) : this.#deliver(lane, delivery);
    const running = work
      .catch((error: unknown) => this.#reportUnmade(error, delivery))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Logs one line for all deliveries that wait for the proxy, and one for each that could not be signed. */
  #reportUnmade(error: unknown, { id: deliveryId }: LeasedDelivery): void {
    if (isProxyError(error)) this.#proxyOutage.failed("deliveries", error);
    else this.#parts.log.error({ error, deliveryId }, "an attempt could not be made");
  }

  async #deliver(lane: Lane, delivery: LeasedDelivery): Promise<void> {
    const leave = this.#enter(lane);
    let attempted: Attempted | null = null;
    try {
      attempted = await this.#attempt(lane, delivery);
    } finally {
      leave();
      this.#afterAttempt(lane);
    }
    try {
      if (attempted) this.#proxyOutage.passed("deliveries");
      if (attempted) await this.#parts.results.add({ delivery, endpoint: lane.endpoint, ...attempted });
      // Without an attempt (not signed, or no way out) the failure is ours and counts for nothing: the lease expires,
      // and the delivery is attempted again.
    } finally {
      this.forget(delivery);
    }
  }

  /** Takes the places of an attempt; the returned function gives them back. */
  #enter(lane: Lane): () => void {
    const { host, endpoint, limit } = lane;
    const { accountId } = endpoint;
    const atHost = this.#hosts.get(host) ?? new Shares(this.#parts.inFlightMaxPerHost, placeFactor);
    this.#hosts.set(host, atHost);
    const shares = [this.#places, atHost, ...(limit.isSlow ? [this.#slowPlaces] : [])];
    for (const share of shares) share.add(accountId, 1);
    lane.inFlight++;
    return () => {
      lane.inFlight--;
      for (const share of shares) share.add(accountId, -1);
      if (atHost.total === 0) this.#hosts.delete(host);
    };
  }

  async #attempt(lane: Lane, delivery: LeasedDelivery): Promise<Attempted> {
    const { clock, attempt } = this.#parts;
    const startedMs = clock.steadyMs();
    const wasFull = lane.isFull;
    const attempted = await attempt(delivery, lane.endpoint);
    const endedMs = clock.steadyMs();
    const { status, error } = attempted.result;
    const succeeded = status !== null && status >= 200 && status < 300;
    const overloaded = status === 429 || error === "deadline";
    lane.limit.observe({ overloaded, succeeded, durationMs: endedMs - startedMs, startedMs, endedMs }, wasFull);
    return attempted;
  }

  #afterAttempt(lane: Lane): void {
    // An endpoint that has become slow keeps nothing in memory: its deliveries wait in the database.
    if (lane.limit.isSlow) this.#returnToQueue(lane, lane.takeAll());
    this.#schedule(lane);
    this.#pump();
    if (lane.isIdle && this.#lanes.size > lanesMax) this.#lanes.delete(lane.endpoint.id);
    if (lane.waiting === 0) this.#parts.onEmpty(lane.endpoint.id);
  }

  #returnToQueue(lane: Lane, some: readonly InHand[]): void {
    const { log } = this.#parts;
    this.#handBack(some).catch((error: unknown) =>
      log.warn(
        { error, endpointId: lane.endpoint.id },
        "deliveries could not be handed back; they wait until their leases expire",
      ),
    );
  }

  async #handBack(some: readonly InHand[]): Promise<void> {
    if (some.length === 0) return;
    for (const { delivery } of some) this.forget(delivery);
    await this.#parts.deliveryQueue.handBack(some.map(({ delivery }) => delivery));
    for (const id of new Set(some.map(({ delivery }) => delivery.endpointId))) this.#parts.onHandedBack(id);
  }
}
