import type { LeasedDelivery } from "../deliveries/delivery.ts";
import { ConcurrencyLimit, firstLimit } from "./concurrency-limit.ts";
import type { SigningEndpoint } from "./signing-endpoint.ts";

export interface InHand {
  readonly delivery: LeasedDelivery;
  readonly startUntilMs: number;
}

/** Rounds of attempts that are fetched ahead. More would wait in memory instead of in the database. */
const turnsAhead = 8;
const firstTurnsAhead = 32;
/** The same for an endpoint that has not answered yet: it may hang. */
const untriedTurnsAhead = 2;
/** First load of an endpoint without a lane. */
export const firstLoad = firstLimit * untriedTurnsAhead;

export const hostOf = (url: string): string => new URL(url).host;

interface CountedAnswers {
  succeeded: number;
  failed: number;
  readonly sinceMs: number;
}

export class Lane {
  readonly limit: ConcurrencyLimit;
  inFlight = 0;
  /** True while the endpoint refuses connections and is left alone; see `ConcurrencyLimit.restMs`. */
  rests = false;
  answers: CountedAnswers = { succeeded: 0, failed: 0, sinceMs: Number.NEGATIVE_INFINITY };
  #endpoint: SigningEndpoint;
  #host: string;
  #waiting: InHand[] = [];
  #taken = 0;

  constructor(endpoint: SigningEndpoint, limitMax: number) {
    this.#endpoint = endpoint;
    this.#host = hostOf(endpoint.url);
    this.limit = new ConcurrencyLimit(limitMax);
  }

  get endpoint(): SigningEndpoint {
    return this.#endpoint;
  }

  set endpoint(endpoint: SigningEndpoint) {
    this.#endpoint = endpoint;
    this.#host = hostOf(endpoint.url);
  }

  get host(): string {
    return this.#host;
  }

  get waiting(): number {
    return this.#waiting.length - this.#taken;
  }

  get isIdle(): boolean {
    return this.inFlight === 0 && this.waiting === 0;
  }

  get isFull(): boolean {
    return this.rests || this.inFlight >= this.limit.value;
  }

  /** Number of deliveries that the lane takes from the queue; of a slow endpoint only those it can start. */
  get room(): number {
    return this.limit.isSlow ? this.roomAtOnce : this.#roomAhead(turnsAhead);
  }

  get roomAtOnce(): number {
    return this.#roomAhead(1);
  }

  get firstRoom(): number {
    return this.limit.isSlow ? 0 : this.#roomAhead(firstTurnsAhead);
  }

  #roomAhead(turns: number): number {
    if (this.rests) return 0;
    const most = this.limit.isTried ? turns : Math.min(turns, untriedTurnsAhead);
    return Math.max(0, this.limit.value * most - this.inFlight - this.waiting);
  }

  add(inHand: InHand): void {
    this.#waiting.push(inHand);
  }

  take(): InHand | undefined {
    const next = this.#waiting[this.#taken];
    if (next === undefined) return undefined;
    this.#taken++;
    if (this.#taken === this.#waiting.length || this.#taken > 1_000) {
      this.#waiting = this.#waiting.slice(this.#taken);
      this.#taken = 0;
    }
    return next;
  }

  takeAll(): InHand[] {
    const all = this.#waiting.slice(this.#taken);
    this.#waiting = [];
    this.#taken = 0;
    return all;
  }
}
