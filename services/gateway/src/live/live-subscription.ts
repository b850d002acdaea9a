import type { OperationRequest } from "../documents/operation-request.ts";
import type { LiveCaller } from "./live-caller.ts";
import type { Positions } from "./live-cursor.ts";
import type { LiveEvent } from "./live-event.ts";
import type { LiveOperation } from "./live-operation.ts";
import type { LiveStream, Resolved } from "./live-stream.ts";
import { RecentIds } from "./recent-ids.ts";
import { isFor } from "./subscription-index.ts";

/** Where a subscription comes from: it stands behind all that is fetched for it. */
export interface Origin {
  readonly requestId: string;
  readonly clientAddress: string;
}

/** An event, and the cursor after it. */
export interface Told {
  readonly one: LiveEvent;
  readonly cursor: string;
}

interface Parts {
  readonly request: OperationRequest;
  readonly caller: LiveCaller;
  readonly origin: Origin;
  readonly operation: LiveOperation;
  readonly stream: LiveStream;
  /** The message of an event. */
  readonly resolve: (subscription: LiveSubscription, told: Told) => Promise<Resolved>;
}

const heldMax = 1_000;
const replayedMax = 1_000;

/** One subscription: it tells its events in order, and those that were missed first. */
export class LiveSubscription {
  /** With the text of its document, to be planned again. */
  readonly request: OperationRequest;
  readonly caller: LiveCaller;
  readonly origin: Origin;
  readonly stream: LiveStream;
  /** Another one after the schema has changed. */
  operation: LiveOperation;
  readonly #resolve: Parts["resolve"];
  readonly #replayed = new RecentIds(replayedMax);
  /** Events that came while older ones are told; null once those are. */
  #held: Told[] | null = null;
  /** Where a replay began. */
  #after: Positions = new Map();

  constructor({ request, caller, origin, operation, stream, resolve }: Parts) {
    this.request = request;
    this.caller = caller;
    this.origin = origin;
    this.operation = operation;
    this.stream = stream;
    this.#resolve = resolve;
  }

  get isReplaying(): boolean {
    return this.#held !== null;
  }

  /** Waits for a replay, which tells what came after the positions, before anything else is told. */
  hold(after: Positions): void {
    this.#held = [];
    this.#after = after;
  }

  /** Tells an event that has come. `shared` has the messages of it that others are told. */
  tell(told: Told, shared: Map<string, Promise<Resolved>>): void {
    const { event, place, offset } = told.one;
    // The cursor may be from an instance that was ahead of this one.
    if (offset < (this.#after.get(place) ?? 0n) || this.#replayed.has(event.id)) return;
    if (!this.#held) this.#deliver(told, shared);
    else if (this.#held.length < heldMax) this.#held.push(told);
    else this.endSlow("More events came than could be told again. Subscribe again with the cursor.");
  }

  /** Tells older events, and then what came meanwhile. */
  async replay(events: AsyncIterable<LiveEvent>, seal: (positions: Positions) => string): Promise<void> {
    const positions = new Map(this.#after);
    for await (const one of events) {
      if (this.stream.isClosed) return;
      positions.set(one.place, one.offset + 1n);
      if (!isFor(this, one.event)) continue;
      await this.stream.room();
      this.#replayed.add(one.event.id);
      this.#deliver({ one, cursor: seal(positions) }, new Map());
    }
    await this.#tellHeld();
    this.#held = null;
  }

  endSlow(message: string): void {
    this.stream.fail("SLOW_CONSUMER", message);
  }

  /** Until the client has caught up with what came meanwhile. */
  async #tellHeld(): Promise<void> {
    while (this.#held && !this.stream.isClosed) {
      const next = this.#held.shift();
      await this.stream.room(next ? undefined : 0);
      if (next && !this.#replayed.has(next.one.event.id)) this.#deliver(next, new Map());
      if (!next && this.#held.length === 0) return;
    }
  }

  #deliver(told: Told, shared: Map<string, Promise<Resolved>>): void {
    const resolved = this.caller.admit(this.operation.declaration).then(() => {
      const key = `${this.operation.key} ${this.caller.view}`;
      const result = shared.get(key) ?? this.#resolve(this, told);
      shared.set(key, result);
      return result;
    });
    this.stream.push(resolved, told.cursor, { isPaced: this.isReplaying });
  }
}
