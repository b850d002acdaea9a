import type { WakeUp } from "@signalbox/runtime";
import type { Presence } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import type { EndpointDirectory } from "../endpoints/endpoint-directory.ts";
import type { EndpointHealth } from "../endpoints/endpoint-health.ts";
import type { DeliveryQueue, LeasedDelivery, WaitingEndpoint } from "./delivery-queue.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { EndpointRates } from "./endpoint-rates.ts";
import { hostOf } from "./lane.ts";
import type { LeaseHolders } from "./lease-holders.ts";

export interface QueueWorkerDependencies {
  readonly deliveryQueue: DeliveryQueue;
  readonly endpointRates: EndpointRates;
  readonly leaseHolders: LeaseHolders;
  readonly dispatcher: Dispatcher;
  readonly directory: EndpointDirectory;
  readonly endpointHealth: Pick<EndpointHealth, "takeProbes">;
  readonly presence: Presence;
  /** Returns true when the account may act now. Otherwise its deliveries wait. */
  readonly mayWrite: (accountId: string) => boolean;
  /** False until the states of the accounts are known; no delivery is leased until then. */
  readonly isReady: () => boolean;
  /** Wakes the worker. */
  readonly wakeUp: WakeUp;
  readonly log: Logger;
  readonly leaseMs: number;
}

/** Longest sleep, and so the longest delay of a delivery that another instance scheduled for now. */
export const idleMsMax = 500;

/** Leases due deliveries from the queue, as many as the dispatcher has room for. */
export class QueueWorker {
  readonly #parts: QueueWorkerDependencies;
  /** Endpoints with more in the queue than in memory: new deliveries go behind those, not past them. */
  readonly #backlogged = new Set<string>();
  #registered: number | null = null;
  #isStopping = false;
  #missed: ReadonlySet<number> = new Set();

  constructor(parts: QueueWorkerDependencies) {
    this.#parts = parts;
  }

  /** Id of this instance in leases; null while it may hold no new ones. */
  get instance(): number | null {
    const id = this.#parts.presence.id();
    return !this.#isStopping && id !== null && id === this.#registered ? id : null;
  }

  hasBacklog(endpointId: string): boolean {
    return this.#backlogged.has(endpointId);
  }

  /**
   * Notes that a transaction is about to lease deliveries to this instance. The returned function says that they are in
   * memory.
   */
  expectLeases(): () => void {
    return this.#parts.deliveryQueue.expectLeases();
  }

  /** Notes that deliveries of the endpoint stayed in the queue. */
  noteBacklog(endpointId: string): void {
    this.#backlogged.add(endpointId);
    this.#parts.wakeUp.wake();
  }

  /** Wakes the worker for an endpoint that has no deliveries left in memory but a backlog in the queue. */
  resume(endpointId: string): void {
    if (this.#backlogged.has(endpointId)) this.#parts.wakeUp.wake();
  }

  /** Leases due deliveries until the signal aborts; then finishes the attempts in hand. */
  async run(signal: AbortSignal, beat: () => void): Promise<void> {
    const { wakeUp, isReady, dispatcher, deliveryQueue } = this.#parts;
    // The worker also restarts after a failed turn, whose claim may have been committed.
    deliveryQueue.suspectLeases();
    while (!signal.aborted) {
      beat();
      wakeUp.reset();
      await this.#register();
      const dueInMs = isReady() ? await this.#turn() : idleMsMax;
      if (dueInMs <= 0) continue;
      const timer = setTimeout(wakeUp.wake, dueInMs);
      await wakeUp.wait(signal);
      clearTimeout(timer);
    }
    this.#isStopping = true;
    // The instance stays registered: a batch being inserted may still lease to it, and other instances take over from
    // registered ones only.
    await dispatcher.stop();
  }

  /** Registers the instance: leases are only taken over from registered instances. */
  async #register(): Promise<void> {
    const id = this.#parts.presence.id();
    if (id === null || id === this.#registered) return;
    const { leaseHolders } = this.#parts;
    if (this.#registered === null) await leaseHolders.register(id);
    else await leaseHolders.adopt(this.#registered, id);
    this.#registered = id;
  }

  /**
   * Frees leases of this instance that it does not know, and those of dead instances. An instance that lost its
   * connection may come back under another id, so it has to be missed twice.
   */
  async takeOver(): Promise<void> {
    const { leaseHolders, deliveryQueue, dispatcher, leaseMs, log, wakeUp } = this.#parts;
    const { instance } = this;
    if (instance === null) return;
    if ((await deliveryQueue.releaseForgotten(() => dispatcher.inHand(), { leaseMs, instance })) > 0) wakeUp.wake();
    const gone = await leaseHolders.findDead(instance);
    const again = gone.filter((id) => this.#missed.has(id));
    this.#missed = new Set(gone);
    if (again.length === 0) return;
    const deliveries = await leaseHolders.takeOver(again);
    log.info({ deliveries }, "deliveries of dead instances were taken over");
    wakeUp.wake();
  }

  /** Attempts the oldest delivery of each endpoint that was disabled because it failed, once an hour. */
  async probe(): Promise<void> {
    const { endpointHealth, deliveryQueue, directory, dispatcher, leaseMs, mayWrite, isReady } = this.#parts;
    const { instance } = this;
    if (instance === null || !isReady()) return;
    for (const { id, accountId, revision } of await endpointHealth.takeProbes()) {
      const endpoint = mayWrite(accountId) ? await directory.find(accountId, id, revision) : null;
      if (endpoint) dispatcher.add(endpoint, await deliveryQueue.claimProbe(id, { leaseMs, instance }));
    }
  }

  /** Runs one turn; returns the milliseconds until something is due, 0 when more may be due already. */
  async #turn(): Promise<number> {
    const { deliveryQueue, mayWrite } = this.#parts;
    await this.#followChanges();
    const waiting = (await deliveryQueue.waiting()).filter(({ accountId }) => mayWrite(accountId));
    const due = waiting.filter(({ dueInMs }) => dueInMs <= 0);
    const dueIds = new Set(due.map(({ id }) => id));
    for (const id of this.#backlogged) if (!dueIds.has(id)) this.#backlogged.delete(id);
    for (const id of dueIds) this.#backlogged.add(id);
    const moreInMs = await this.#take(due);
    if (moreInMs <= 0) return 0;
    const later = waiting.map(({ dueInMs }) => dueInMs).filter((ms) => ms > 0);
    return Math.min(idleMsMax, ...[moreInMs, ...later].map((ms) => Math.ceil(ms)));
  }

  /**
   * Follows changes: waiting deliveries go back to the queue when their endpoint is paused, disabled or gone, or its
   * account may not act.
   */
  async #followChanges(): Promise<void> {
    const { deliveryQueue, dispatcher, directory, mayWrite } = this.#parts;
    const inHand = dispatcher.endpoints();
    if (inHand.length === 0) return;
    const revisions = await deliveryQueue.revisions(inHand.map(({ id }) => id));
    for (const { id, accountId, revision } of inHand) {
      const now = revisions.get(id);
      if (!mayWrite(accountId)) await dispatcher.update(id, null);
      else if (now !== revision) {
        await dispatcher.update(id, now === undefined ? null : await directory.find(accountId, id, now));
      }
    }
  }

  /** Leases due deliveries; returns the milliseconds until more may be taken, 0 when an endpoint filled its room. */
  async #take(due: readonly WaitingEndpoint[]): Promise<number> {
    const { deliveryQueue, dispatcher, endpointRates, leaseMs } = this.#parts;
    const { instance } = this;
    const rooms = roomsOf(due, dispatcher);
    if (rooms.size === 0 || instance === null) return Number.POSITIVE_INFINITY;
    const rates = new Map(due.flatMap(({ id, rate }) => (rate && rooms.has(id) ? [[id, rate] as const] : [])));
    const grantInMs = rates.size === 0 ? Number.POSITIVE_INFINITY : await endpointRates.grant(rooms, rates);
    if (rooms.size === 0) return grantInMs;
    const accounts = new Map(due.map(({ id, accountId }) => [id, accountId]));
    const leased = Map.groupBy(await deliveryQueue.claim(rooms, { leaseMs, instance }), ({ endpointId }) => endpointId);
    let isMore = false;
    for (const [id, room] of rooms) {
      const deliveries = leased.get(id) ?? [];
      const rate = rates.get(id);
      if (deliveries.length < room) this.#backlogged.delete(id);
      else if (!rate) isMore = true;
      if (rate && deliveries.length < room) await endpointRates.giveBack(id, rate, room - deliveries.length);
    }
    await this.#dispatch(leased, accounts);
    return isMore && leased.size > 0 ? 0 : grantInMs;
  }

  async #dispatch(
    leased: ReadonlyMap<string, readonly LeasedDelivery[]>,
    accounts: ReadonlyMap<string, string>,
  ): Promise<void> {
    const { deliveryQueue, dispatcher, directory } = this.#parts;
    if (leased.size === 0) return;
    // One look for all: a look for each would make the last endpoint wait for all the others.
    const revisions = await deliveryQueue.revisions([...leased.keys()]);
    for (const [id, deliveries] of leased) {
      const revision = revisions.get(id);
      const endpoint = revision === undefined ? null : await directory.find(accounts.get(id) ?? "", id, revision);
      if (endpoint?.status === "enabled") dispatcher.add(endpoint, deliveries);
      else await deliveryQueue.handBack(deliveries);
    }
  }
}

/** Divides the room of each account, and of each of its hosts, evenly: a busy endpoint does not take it all. */
function roomsOf(due: readonly WaitingEndpoint[], dispatcher: Dispatcher): Map<string, number> {
  const lanes = due.map(({ id, accountId, url, rate }) => {
    const host = hostOf(url);
    return { id, load: { accountId, host }, place: `${accountId} ${host}`, room: dispatcher.roomOf(id, rate !== null) };
  });
  const atPlace = Map.groupBy(lanes, ({ place }) => place);
  const ofAccount = Map.groupBy(lanes, ({ load }) => load.accountId);
  const { room } = dispatcher;
  const shareOf = ({ load, place }: (typeof lanes)[number]) =>
    Math.min(
      room.of(load) / (atPlace.get(place)?.length ?? 1),
      room.ofAccount(load.accountId) / (ofAccount.get(load.accountId)?.length ?? 1),
    );
  const shares = new Map(lanes.map((lane) => [lane.id, Math.max(1, Math.floor(shareOf(lane)))]));
  return room.plan((take) => {
    const rooms = new Map<string, number>();
    for (const { id, load, room: own } of lanes) {
      const count = Math.min(own, shares.get(id) ?? 1, room.of(load));
      if (count <= 0) continue;
      rooms.set(id, count);
      // Sizes are unknown before the lease.
      take(load, count, 0);
    }
    return rooms;
  });
}
