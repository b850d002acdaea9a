import { seesEndpoint } from "@signalbox/auth";
import type { OperationRequest } from "../documents/operation-request.ts";
import type { LiveCaller } from "./live-caller.ts";
import type { Positions } from "./live-cursor.ts";
import { declarations, type LiveEvent, RecentIds } from "./live-event.ts";
import type { LiveOperation } from "./live-operation.ts";
import type { LiveStream, Resolved } from "./live-stream.ts";

export interface PositionedEvent {
  readonly one: LiveEvent;
  readonly cursor: string;
}

interface Parts {
  readonly request: OperationRequest;
  readonly caller: LiveCaller;
  readonly operation: LiveOperation;
  readonly stream: LiveStream;
  readonly resolve: (subscription: LiveSubscription, positioned: PositionedEvent) => Promise<Resolved>;
}

const heldMax = 1_000;
const replayedMax = 1_000;

/** One subscription: it sends its events in order, starting with the missed ones. */
export class LiveSubscription {
  /** Includes the text of its document, for planning it again. */
  readonly request: OperationRequest;
  readonly caller: LiveCaller;
  readonly stream: LiveStream;
  /** Replaced after a change of the schema. */
  operation: LiveOperation;
  readonly #resolve: Parts["resolve"];
  readonly #replayed = new RecentIds(replayedMax);
  /** New events during a replay; null afterwards. */
  #held: PositionedEvent[] | null = null;
  #after: Positions = new Map();

  constructor({ request, caller, operation, stream, resolve }: Parts) {
    this.request = request;
    this.caller = caller;
    this.operation = operation;
    this.stream = stream;
    this.#resolve = resolve;
  }

  get isReplaying(): boolean {
    return this.#held !== null;
  }

  /** Queues new events until a replay has sent the events after the positions. */
  hold(after: Positions): void {
    this.#held = [];
    this.#after = after;
  }

  /** Sends a new event. `shared` has its messages for other subscriptions. */
  deliver(positioned: PositionedEvent, shared: Map<string, Promise<Resolved>>): void {
    const { event, place, offset } = positioned.one;
    // The cursor may come from an instance that was ahead of this one.
    if (offset < (this.#after.get(place) ?? 0n) || this.#replayed.has(event.id)) return;
    if (!this.#held) this.#resolveAndPush(positioned, shared);
    else if (this.#held.length < heldMax) this.#held.push(positioned);
    else this.endSlow("More events arrived than could be replayed. Subscribe again with the cursor.");
  }

  /** Sends older events, and then the queued ones. */
  async replay(events: AsyncIterable<LiveEvent>, seal: (positions: Positions) => string): Promise<void> {
    const positions = new Map(this.#after);
    for await (const one of events) {
      if (this.stream.isClosed) return;
      positions.set(one.place, one.offset + 1n);
      if (!isFor(this, one.event)) continue;
      await this.stream.room();
      if (this.stream.isClosed) return;
      this.#replayed.add(one.event.id);
      this.#resolveAndPush({ one, cursor: seal(positions) }, new Map());
    }
    await this.#tellHeld();
  }

  endSlow(message: string): void {
    this.stream.fail("SLOW_CONSUMER", message);
  }

  /** Sends the queued events until the client has caught up. */
  async #tellHeld(): Promise<void> {
    while (this.#held && !this.stream.isClosed) {
      const next = this.#held.shift();
      await this.stream.room(next ? undefined : 0);
      if (next && !this.#replayed.has(next.one.event.id)) this.#resolveAndPush(next, new Map());
      // In the same turn: an event that comes between the look and the end of the queue would be lost.
      if (!next && this.#held.length === 0) this.#held = null;
    }
  }

  #resolveAndPush(positioned: PositionedEvent, shared: Map<string, Promise<Resolved>>): void {
    const resolve = async () => {
      await this.caller.admit(this.operation.declaration);
      const key = `${this.operation.key} ${this.caller.view}`;
      const result = shared.get(key) ?? this.#resolve(this, positioned);
      shared.set(key, result);
      return result;
    };
    this.stream.push(resolve, positioned.cursor, { isPaced: this.isReplaying });
  }
}

/** Subscriptions by field and account, so that an event is compared only with possible recipients. */
export class SubscriptionIndex {
  readonly #byPlace = new Map<string, Set<LiveSubscription>>();

  add(one: LiveSubscription): void {
    const key = placeOf(one);
    const place = this.#byPlace.get(key) ?? new Set();
    this.#byPlace.set(key, place.add(one));
  }

  remove(one: LiveSubscription): void {
    const key = placeOf(one);
    const place = this.#byPlace.get(key);
    place?.delete(one);
    if (place?.size === 0) this.#byPlace.delete(key);
  }

  *for(event: LiveEvent["event"]): Iterable<LiveSubscription> {
    for (const { events, field } of declarations) {
      if (!events.includes(event.name)) continue;
      for (const accountId of event.accountId === null ? [""] : ["", event.accountId]) {
        for (const one of this.#byPlace.get(`${field} ${accountId}`) ?? []) if (isFor(one, event)) yield one;
      }
    }
  }
}

/** Returns true when an event of the subscription's topics is visible to this caller and requested. */
function isFor({ caller, operation }: LiveSubscription, { name, accountId, data }: LiveEvent["event"]): boolean {
  const { declaration, onlyId } = operation;
  const members = data as Readonly<Record<string, unknown>>;
  if (!declaration.events.includes(name)) return false;
  if (onlyId !== null && declaration.only?.idOf(members) !== onlyId) return false;
  if ("audienceOf" in declaration.access) return caller.isOf(declaration.access.audienceOf(members));
  const { principal } = caller;
  if (accountId === null || accountId !== principal?.accountId) return false;
  return principal.portal === undefined || seesEndpoint(principal, String(declaration.only?.idOf(members)));
}

/** The empty account is that of public events. */
const placeOf = ({ caller, operation: { declaration } }: LiveSubscription): string =>
  `${declaration.field} ${"scope" in declaration.access ? (caller.principal?.accountId ?? "") : ""}`;
