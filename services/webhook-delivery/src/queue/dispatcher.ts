import type { Clock } from "@signalbox/core";
import { MiB, seconds } from "@signalbox/core";
import { isProxyError } from "@signalbox/net";
import type { Logger, Outage } from "@signalbox/telemetry";
import type { SigningEndpoint } from "../endpoints/signing-endpoint.ts";
import type { Attempted, attemptDelivery } from "./attempt-delivery.ts";
import type { AttemptResults } from "./attempt-results.ts";
import type { DeliveryQueue, LeasedDelivery } from "./delivery-queue.ts";
import { type InHand, Lane } from "./lane.ts";
import { firstLimit } from "./lane-limit.ts";

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

/** Limits of the deliveries that this instance holds in memory, recorded or not. */
const deliveriesMax = 8_192;
const bytesMax = 64 * MiB;
/** Endpoints whose measured limits are remembered while they are idle. */
const lanesMax = 10_000;
/** Safety margin before a lease expires and another instance takes the delivery. */
const leaseMarginMs = seconds(5);
/** Share of all places that slow endpoints may use together. */
const slowShare = 0.25;

/** Makes attempts, limited in total, per endpoint and per host. Slow endpoints share a part of the places. */
export class Dispatcher {
  readonly #parts: DispatcherDependencies;
  readonly #proxyOutage: Outage;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with deliveries in memory and room for another attempt. */
  readonly #ready = new Set<Lane>();
  readonly #hosts = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();
  readonly #held = new Set<string>();
  #heldBytes = 0;
  #inFlight = 0;
  #slowInFlight = 0;
  #isStopping = false;

  constructor(parts: DispatcherDependencies) {
    this.#parts = parts;
    this.#proxyOutage = parts.log.outage("The outbound proxy");
  }

  /** Number of further deliveries that fit into memory. */
  get room(): number {
    return this.#isStopping || this.#heldBytes >= bytesMax ? 0 : Math.max(0, deliveriesMax - this.#held.size);
  }

  /**
   * Returns the number of deliveries of an endpoint that may be taken from the queue; `atOnce` leaves out those that
   * would wait in memory.
   */
  roomOf(endpointId: string, atOnce: boolean): number {
    const lane = this.#lanes.get(endpointId);
    if (lane === undefined) return firstLimit;
    return atOnce ? lane.roomAtOnce : lane.room;
  }

  /** Returns the number of new deliveries that the endpoint may get without the queue. */
  firstRoomOf(endpointId: string): number {
    return this.#lanes.get(endpointId)?.firstRoom ?? firstLimit * 8;
  }

  /** Returns the endpoints with deliveries in memory. */
  endpoints(): SigningEndpoint[] {
    return [...this.#lanes.values()].filter(({ waiting }) => waiting > 0).map(({ endpoint }) => endpoint);
  }

  /** Returns the ids of the deliveries that this instance believes to have leased. */
  inHand(): string[] {
    return [...this.#held];
  }

  /** Counts a delivery as in hand, until `forget`. */
  hold({ id, body }: LeasedDelivery): void {
    if (!this.#held.has(id)) this.#heldBytes += body.length;
    this.#held.add(id);
  }

  forget({ id, body }: LeasedDelivery): void {
    if (this.#held.delete(id)) this.#heldBytes -= body.length;
  }

  /** Accepts leased deliveries of an endpoint, in their order. */
  add(endpoint: SigningEndpoint, deliveries: readonly LeasedDelivery[]): void {
    const { clock, leaseMs, attemptMsMax } = this.#parts;
    const lane = this.#laneOf(endpoint);
    const startUntilMs = clock.steadyMs() + leaseMs - attemptMsMax() - leaseMarginMs;
    for (const delivery of deliveries) {
      lane.add({ delivery, startUntilMs });
      this.hold(delivery);
    }
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
    this.#isStopping = true;
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
    if (this.#isStopping) return;
    // A lane that is re-added to the end of the set is visited again in this pass.
    for (const lane of this.#ready) {
      if (this.#inFlight >= this.#parts.inFlightMax) return;
      if (!this.#hasPlace(lane)) continue;
      const next = lane.take();
      this.#ready.delete(lane);
      if (next) this.#begin(lane, next);
      this.#schedule(lane);
    }
  }

  #hasPlace(lane: Lane): boolean {
    const { inFlightMax, inFlightMaxPerHost } = this.#parts;
    if (lane.limit.isSlow && this.#slowInFlight >= inFlightMax * slowShare) return false;
    return (this.#hosts.get(lane.host) ?? 0) < inFlightMaxPerHost;
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
    const { host } = lane;
    const wasSlow = lane.limit.isSlow;
    lane.inFlight++;
    this.#inFlight++;
    if (wasSlow) this.#slowInFlight++;
    this.#hosts.set(host, (this.#hosts.get(host) ?? 0) + 1);
    let attempted: Attempted | null = null;
    try {
      attempted = await this.#attempt(lane, delivery);
    } finally {
      lane.inFlight--;
      this.#inFlight--;
      if (wasSlow) this.#slowInFlight--;
      const left = (this.#hosts.get(host) ?? 1) - 1;
      if (left > 0) this.#hosts.set(host, left);
      else this.#hosts.delete(host);
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
    if (lane.limit.isSlow && lane.waiting > 0) {
      const { log } = this.#parts;
      this.#handBack(lane.takeAll()).catch((error: unknown) =>
        log.warn(
          { error, endpointId: lane.endpoint.id },
          "deliveries could not be handed back; they wait until their leases expire",
        ),
      );
    }
    this.#schedule(lane);
    this.#pump();
    if (lane.isIdle && this.#lanes.size > lanesMax) this.#lanes.delete(lane.endpoint.id);
    if (lane.waiting === 0) this.#parts.onEmpty(lane.endpoint.id);
  }

  async #handBack(some: readonly InHand[]): Promise<void> {
    if (some.length === 0) return;
    for (const { delivery } of some) this.forget(delivery);
    await this.#parts.deliveryQueue.handBack(some.map(({ delivery }) => delivery));
    for (const id of new Set(some.map(({ delivery }) => delivery.endpointId))) this.#parts.onHandedBack(id);
  }
}
