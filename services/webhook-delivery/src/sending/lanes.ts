import type { LeasedDelivery } from "../deliveries/delivery.ts";
import type { DrainAnswers } from "../endpoints/drain-rate.ts";
import { firstLoad, type InHand, Lane } from "./lane.ts";
import { MemoryBudget } from "./memory-budget.ts";
import { Shares } from "./shares.ts";
import type { SigningEndpoint } from "./signing-endpoint.ts";

export interface LaneBounds {
  readonly inFlightMax: number;
  readonly inFlightMaxPerEndpoint: number;
  readonly inFlightMaxPerHost: number;
}

export interface NextAttempt extends InHand {
  readonly lane: Lane;
}

/** Endpoints whose measured limits are remembered while they are idle. */
const lanesMax = 10_000;
/** Share of all places that slow endpoints may use together. */
const slowShare = 0.25;
/** One account may hold seven times as many places as are free, alone seven of eight: the rest is for others. */
const placeFactor = 7;

/**
 * The deliveries of this instance: a lane for each endpoint, the places of the attempts, and the room in memory. It is
 * the one state that the loop of claims fills and the loop of attempts empties, and it starts nothing by itself.
 *
 * Places are limited in total, per endpoint and per host. Slow endpoints share a part of them, and accounts share all
 * of them, because a receiver that hangs holds its places for a whole timeout.
 */
export class Lanes {
  readonly #bounds: LaneBounds;
  readonly #lanes = new Map<string, Lane>();
  readonly #ready = new Set<Lane>();
  /** Endpoints with more in the queue than in memory: new deliveries go behind those, not past them. */
  readonly #backlogged = new Set<string>();
  readonly #hosts = new Map<string, Shares>();
  readonly #places: Shares;
  readonly #slowPlaces: Shares;
  readonly room = new MemoryBudget();

  constructor(bounds: LaneBounds) {
    this.#bounds = bounds;
    this.#places = new Shares(bounds.inFlightMax, placeFactor);
    this.#slowPlaces = new Shares(bounds.inFlightMax * slowShare, placeFactor);
  }

  /** Returns how many deliveries of an endpoint may be taken from the queue; `atOnce`: without a wait. */
  roomOf(endpointId: string, atOnce: boolean): number {
    const lane = this.#lanes.get(endpointId);
    if (lane === undefined) return firstLoad;
    return atOnce ? lane.roomAtOnce : lane.room;
  }

  firstRoomOf(endpointId: string): number {
    if (this.#backlogged.has(endpointId)) return 0;
    return this.#lanes.get(endpointId)?.firstRoom ?? firstLoad;
  }

  endpoints(): SigningEndpoint[] {
    return [...this.#lanes.values()].filter(({ waiting }) => waiting > 0).map(({ endpoint }) => endpoint);
  }

  /** Returns the answers of an endpoint since the last time, and counts anew; null before `everyMs`, or without any. */
  takeAnswers(endpointId: string, nowMs: number, everyMs: number): DrainAnswers | null {
    const lane = this.#lanes.get(endpointId);
    if (lane === undefined || nowMs - lane.answers.sinceMs < everyMs) return null;
    const { succeeded, failed, sinceMs } = lane.answers;
    lane.answers = { succeeded: 0, failed: 0, sinceMs: nowMs };
    const isCounted = succeeded + failed > 0 && sinceMs > Number.NEGATIVE_INFINITY;
    return isCounted ? { succeeded, failed, isSlow: lane.limit.isSlow } : null;
  }

  hasBacklog(endpointId: string): boolean {
    return this.#backlogged.has(endpointId);
  }

  /** Notes that deliveries of the endpoint stayed in the queue, or that none did. */
  setBacklog(endpointId: string, isBacklogged: boolean): void {
    if (isBacklogged) this.#backlogged.add(endpointId);
    else this.#backlogged.delete(endpointId);
  }

  /** Replaces the endpoints with a backlog by those that have deliveries due in the queue. */
  setBacklogs(endpointIds: ReadonlySet<string>): void {
    for (const id of this.#backlogged) if (!endpointIds.has(id)) this.#backlogged.delete(id);
    for (const id of endpointIds) this.#backlogged.add(id);
  }

  /** Takes leased deliveries in their order; returns those past the account's share: plans do not see each other. */
  add(endpoint: SigningEndpoint, deliveries: readonly LeasedDelivery[], startUntilMs: number): LeasedDelivery[] {
    const lane = this.#laneOf(endpoint);
    const { host } = lane;
    let added = 0;
    for (const delivery of deliveries) {
      if (this.room.of({ accountId: delivery.accountId, host }) <= 0) break;
      lane.add({ delivery, startUntilMs });
      this.room.move(delivery, "lease", host);
      added++;
    }
    this.#schedule(lane);
    return deliveries.slice(added);
  }

  /** Takes the deliveries that may be attempted now, one of each lane in turn. Each is to be entered or handed back. */
  *takeReady(): Generator<NextAttempt> {
    // A lane that is re-added to the end of the set is visited again in this pass.
    for (const lane of this.#ready) {
      if (this.room.isClosed || this.#places.total >= this.#bounds.inFlightMax) return;
      if (!this.#hasPlace(lane)) continue;
      const inHand = lane.take();
      this.#ready.delete(lane);
      if (inHand) yield { ...inHand, lane };
      this.#schedule(lane);
    }
  }

  /** Starts an attempt of the lane. The returned function gives its places back. */
  enter({ lane, delivery }: NextAttempt): () => void {
    const { host, endpoint, limit } = lane;
    const { accountId } = endpoint;
    this.room.move(delivery, "start", host);
    const atHost = this.#hosts.get(host) ?? new Shares(this.#bounds.inFlightMaxPerHost, placeFactor);
    this.#hosts.set(host, atHost);
    const shares = [this.#places, atHost, ...(limit.isSlow ? [this.#slowPlaces] : [])];
    for (const share of shares) share.add(accountId, 1);
    lane.inFlight++;
    return () => {
      lane.inFlight--;
      for (const share of shares) share.add(accountId, -1);
      if (atHost.total === 0) this.#hosts.delete(host);
      this.#schedule(lane);
    };
  }

  giveUp(lane: Lane, delivery: LeasedDelivery): LeasedDelivery {
    this.room.move(delivery, "handBack", lane.host);
    return delivery;
  }

  rest(lane: Lane, rests: boolean): void {
    lane.rests = rests;
    this.#schedule(lane);
  }

  forgetIdle(lane: Lane): void {
    if (lane.isIdle && this.#lanes.size > lanesMax) this.#lanes.delete(lane.endpoint.id);
  }

  update(endpoint: SigningEndpoint): void {
    if (this.#lanes.has(endpoint.id)) this.#laneOf(endpoint);
  }

  takeAll(endpointId?: string): LeasedDelivery[] {
    const lanes = endpointId === undefined ? [...this.#lanes.values()] : [this.#lanes.get(endpointId)];
    return lanes.flatMap((lane) => {
      if (!lane) return [];
      const taken = lane.takeAll().map(({ delivery }) => this.giveUp(lane, delivery));
      this.#schedule(lane);
      return taken;
    });
  }

  #laneOf(endpoint: SigningEndpoint): Lane {
    const { inFlightMaxPerEndpoint } = this.#bounds;
    const max = Math.min(endpoint.settings.max_in_flight ?? inFlightMaxPerEndpoint, inFlightMaxPerEndpoint);
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

  #hasPlace(lane: Lane): boolean {
    const { accountId } = lane.endpoint;
    if (this.#places.roomOf(accountId) === 0) return false;
    if (lane.limit.isSlow && this.#slowPlaces.roomOf(accountId) === 0) return false;
    return this.#hosts.get(lane.host)?.roomOf(accountId) !== 0;
  }
}
