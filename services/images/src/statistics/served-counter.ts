import { type Clock, minutes } from "@signalbox/core";
import type { HttpResponse } from "@signalbox/http";
import { outputFormats } from "@signalbox/imaging";
import type { FreshEntry } from "@signalbox/service";

/** The forms of content: renditions by their format, and files as they were uploaded. */
const forms = [...outputFormats, "original"] as const;
export type ServedForm = (typeof forms)[number];

/** Numbers of one form: answers with bytes, answers without them, bytes. */
const width = 3;
const placeOf = Object.fromEntries(forms.map((form, place) => [form, place * width])) as Record<ServedForm, number>;
/** Accounts that are counted between two saves before their figures are handed on early. */
const accountsMax = 10_000;

/**
 * Counts answers with content. It is on the way of every picture of every page: numbers are added in place, by account
 * and form, and become entries of the statistics when they are saved.
 */
export class ServedCounter {
  readonly #clock: Clock;
  readonly #count: (entry: FreshEntry) => void;
  readonly #tallies = new Map<string, Float64Array>();
  #minute = 0;

  /** @param count takes the figures of a minute */
  constructor(clock: Clock, count: (entry: FreshEntry) => void) {
    this.#clock = clock;
    this.#count = count;
  }

  /** Hands everything that was counted on to the statistics. */
  handOn(): void {
    const atMs = minutes(this.#minute);
    for (const [accountId, tally] of this.#tallies) {
      for (const form of forms) {
        const counts = tally.subarray(placeOf[form], placeOf[form] + width);
        if (counts.some((number) => number > 0))
          this.#count({ accountId, subjectId: null, atMs, labels: [form], counts: [0, ...counts] });
      }
    }
    this.#tallies.clear();
  }

  /** Counts an answer to a GET that has content of an account, or a 304 instead of it, and returns the answer. */
  counted<A extends HttpResponse>(accountId: string, form: ServedForm, method: string | undefined, answer: A): A {
    if (method !== "GET" || answer.status >= 400) return answer;
    const tally = this.#tallyOf(accountId);
    const place = placeOf[form];
    if (answer.status === 304) add(tally, place + 1, 1);
    else {
      add(tally, place, 1);
      add(tally, place + 2, lengthOf(answer));
    }
    return answer;
  }

  #tallyOf(accountId: string): Float64Array {
    const now = Math.floor(this.#clock.nowMs() / minutes(1));
    if (now !== this.#minute || this.#tallies.size >= accountsMax) this.handOn();
    this.#minute = now;
    let tally = this.#tallies.get(accountId);
    if (tally === undefined) {
      tally = new Float64Array(forms.length * width);
      this.#tallies.set(accountId, tally);
    }
    return tally;
  }
}

function add(tally: Float64Array, place: number, more: number): void {
  tally[place] = (tally[place] as number) + more;
}

function lengthOf({ body }: HttpResponse): number {
  if (body.kind === "bytes") return body.bytes.length;
  return body.kind === "stream" ? (body.length ?? 0) : 0;
}
