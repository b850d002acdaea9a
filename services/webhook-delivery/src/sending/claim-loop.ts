import type { AccessStates } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { WakeUp } from "@signalbox/runtime";
import type { Pool } from "@signalbox/storage";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import { mayWrite } from "../endpoints/account-access.ts";
import { adaptDrainRate, adaptEveryMs, drainFactor } from "../endpoints/drain-rate.ts";
import type { AttemptLoop } from "./attempt-loop.ts";
import { endpointRevisions, takeProbes, type WaitingEndpoint, waitingEndpoints } from "./delivery-queue.ts";
import type { EndpointCache } from "./endpoint-cache.ts";
import { giveBackGrants, grantAttempts } from "./endpoint-rates.ts";
import { hostOf } from "./lane.ts";
import type { Lanes } from "./lanes.ts";
import type { Leases } from "./leases.ts";
import type { PullWaits } from "./pull-waits.ts";

interface ClaimLoopParts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly lanes: Lanes;
  readonly leases: Leases;
  readonly attempts: AttemptLoop;
  readonly endpointCache: EndpointCache;
  /** Deliveries of accounts that may not act wait, and all of them until the states of the accounts are known. */
  readonly accessStates: AccessStates;
  readonly wakeUp: WakeUp;
  readonly pullWaits: PullWaits;
}

/** Longest sleep, and so the longest delay of a delivery that another instance scheduled for now. */
export const idleMsMax = 500;

export class ClaimLoop {
  readonly #parts: ClaimLoopParts;

  constructor(parts: ClaimLoopParts) {
    this.#parts = parts;
  }

  /** Leases due deliveries until the signal aborts; then finishes the attempts in hand. */
  async run(signal: AbortSignal, beat: () => void): Promise<void> {
    const { wakeUp, accessStates, attempts, leases } = this.#parts;
    // The worker also restarts after a failed turn, whose claim may have been committed.
    leases.suspect();
    while (!signal.aborted) {
      beat();
      wakeUp.reset();
      await leases.register();
      const dueInMs = accessStates.isCaughtUp() ? await this.#turn() : idleMsMax;
      if (dueInMs <= 0) continue;
      const timer = setTimeout(wakeUp.wake, dueInMs);
      await wakeUp.wait(signal);
      clearTimeout(timer);
    }
    leases.close();
    await attempts.stop();
  }

  async takeOver(): Promise<void> {
    const { leases, lanes, wakeUp } = this.#parts;
    if (await leases.takeOver(() => lanes.room.ids())) wakeUp.wake();
  }

  /** Attempts the oldest delivery of each endpoint that was disabled because it failed, once an hour. */
  async probe(): Promise<void> {
    const { pool, clock, endpointCache, leases, attempts, accessStates } = this.#parts;
    const { instance } = leases;
    if (instance === null || !accessStates.isCaughtUp()) return;
    for (const { id, accountId, revision } of await takeProbes(pool, clock.now())) {
      const endpoint = mayWrite(accessStates, accountId) ? await endpointCache.find(accountId, id, revision) : null;
      if (endpoint) attempts.add(endpoint, await leases.claimProbe(id, instance));
    }
  }

  /** Runs one turn; returns the milliseconds until something is due, 0 when more may be due already. */
  async #turn(): Promise<number> {
    const { pool, accessStates, lanes, pullWaits } = this.#parts;
    await this.#followChanges();
    const waiting = (await waitingEndpoints(pool)).filter(({ accountId }) => mayWrite(accessStates, accountId));
    const dueNow = waiting.filter(({ dueInMs }) => dueInMs <= 0);
    const { push: due = [], pull = [] } = Object.groupBy(dueNow, ({ type }) => type);
    for (const { id } of pull) pullWaits.wake(id);
    await this.#adaptDrains(due);
    const { held = [], rest = [] } = Object.groupBy(due, ({ part }) => (part === "held" ? "held" : "rest"));
    lanes.setBacklogs(new Set(rest.map(({ id }) => id)));
    // New deliveries first: held ones take the room, and the rate, that is left.
    const moreInMs = Math.min(await this.#take(rest), await this.#take(held));
    if (moreInMs <= 0) return 0;
    const later = waiting.map(({ dueInMs }) => dueInMs).filter((ms) => ms > 0);
    return Math.min(idleMsMax, ...[moreInMs, ...later].map((ms) => Math.ceil(ms)));
  }

  /** Hands back what waits for an endpoint that is not enabled any more, or whose account may not act. */
  async #followChanges(): Promise<void> {
    const { pool, lanes, attempts, endpointCache, accessStates } = this.#parts;
    const inHand = lanes.endpoints();
    if (inHand.length === 0) return;
    const ids = inHand.map(({ id }) => id);
    const revisions = await endpointRevisions(pool, ids);
    for (const { id, accountId, revision } of inHand) {
      const now = revisions.get(id);
      if (!mayWrite(accessStates, accountId)) await attempts.update(id, null);
      else if (now !== revision) {
        await attempts.update(id, now === undefined ? null : await endpointCache.find(accountId, id, now));
      }
    }
  }

  async #adaptDrains(due: readonly WaitingEndpoint[]): Promise<void> {
    const { pool, lanes, clock } = this.#parts;
    for (const { id, drainsPerSecond } of due) {
      if (drainsPerSecond === null) continue;
      const answers = lanes.takeAnswers(id, clock.steadyMs(), adaptEveryMs);
      const factor = answers ? drainFactor(drainsPerSecond, answers) : 1;
      if (factor !== 1) await adaptDrainRate(pool, id, factor);
    }
  }

  /** Leases due deliveries; returns the milliseconds until more may be taken, 0 when an endpoint filled its room. */
  async #take(due: readonly WaitingEndpoint[]): Promise<number> {
    const { pool, lanes, leases } = this.#parts;
    const { instance } = leases;
    const rooms = roomsOf(due, lanes);
    if (rooms.size === 0 || instance === null) return Number.POSITIVE_INFINITY;
    const rates = new Map(due.flatMap(({ id, rate }) => (rate && rooms.has(id) ? [[id, rate] as const] : [])));
    const grantInMs = rates.size === 0 ? Number.POSITIVE_INFINITY : await grantAttempts(pool, rooms, rates);
    if (rooms.size === 0) return grantInMs;
    const parts = new Map(due.map(({ id, part }) => [id, part]));
    const leased = Map.groupBy(await leases.claim(rooms, instance, parts), ({ endpointId }) => endpointId);
    let isMore = false;
    for (const [id, room] of rooms) {
      const deliveries = leased.get(id) ?? [];
      const rate = rates.get(id);
      if (deliveries.length === room) isMore ||= !rate;
      else if (parts.get(id) !== "held") lanes.setBacklog(id, false);
      if (rate && deliveries.length < room) await giveBackGrants(pool, id, rate, room - deliveries.length);
    }
    await this.#start(leased);
    return isMore && leased.size > 0 ? 0 : grantInMs;
  }

  async #start(leased: ReadonlyMap<string, readonly LeasedDelivery[]>): Promise<void> {
    const { pool, leases, attempts, endpointCache } = this.#parts;
    if (leased.size === 0) return;
    // One look for all: a look for each would make the last endpoint wait for all the others.
    const revisions = await endpointRevisions(pool, [...leased.keys()]);
    for (const [id, deliveries] of leased) {
      const revision = revisions.get(id);
      const accountId = deliveries[0]?.accountId ?? "";
      const endpoint = revision === undefined ? null : await endpointCache.find(accountId, id, revision);
      if (endpoint?.status === "enabled") attempts.add(endpoint, deliveries);
      else await leases.handBack(deliveries);
    }
  }
}

/** Divides the room of each account, and of each of its hosts, evenly: a busy endpoint does not take it all. */
function roomsOf(due: readonly WaitingEndpoint[], lanes: Lanes): Map<string, number> {
  const wanted = due.map(({ id, accountId, url, rate }) => {
    const host = hostOf(url);
    return { id, load: { accountId, host }, place: `${accountId} ${host}`, room: lanes.roomOf(id, rate !== null) };
  });
  const atPlace = Map.groupBy(wanted, ({ place }) => place);
  const ofAccount = Map.groupBy(wanted, ({ load }) => load.accountId);
  const { room } = lanes;
  const shareOf = ({ load, place }: (typeof wanted)[number]) =>
    Math.min(
      room.of(load) / (atPlace.get(place)?.length ?? 1),
      room.ofAccount(load.accountId) / (ofAccount.get(load.accountId)?.length ?? 1),
    );
  const shares = new Map(wanted.map((one) => [one.id, Math.max(1, Math.floor(shareOf(one)))]));
  return room.plan((take) => {
    const rooms = new Map<string, number>();
    for (const { id, load, room: own } of wanted) {
      const count = Math.min(own, shares.get(id) ?? 1, room.of(load));
      if (count <= 0) continue;
      rooms.set(id, count);
      // Sizes are unknown before the lease.
      take(load, count, 0);
    }
    return rooms;
  });
}
