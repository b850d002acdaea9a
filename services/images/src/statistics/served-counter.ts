import { type Clock, minutes } from "@signalbox/core";
import type { HttpResponse } from "@signalbox/http";
import { outputFormats } from "@signalbox/imaging";
import type { FreshEntry } from "@signalbox/storage";

/** The forms of content: renditions by their format, and files as they were uploaded. */
const forms = [...outputFormats, "original"] as const;
type ServedForm = (typeof forms)[number];

/** Numbers of one form: answers with bytes, answers without them, bytes. */
const width = 3;
const placeOf = Object.fromEntries(forms.map((form, place) => [form, place * width])) as Record<ServedForm, number>;
/** Accounts that are counted between two saves before their figures are handed on early. */
const accountsMax = 10_000;

interface Dependencies {
  readonly clock: Pick<Clock, "nowMs">;
  /** Takes the figures of a minute. */
  readonly count: (entry: FreshEntry) => void;
}

export type ServedCounter = ReturnType<typeof createServedCounter>;

/**
 * Creates the counter of answers with content. It is on the way of every picture of every page: numbers are added in
 * place, by account and form, and become entries of the statistics when they are saved.
 */
export function createServedCounter({ clock, count }: Dependencies) {
  let minute = 0;
  const tallies = new Map<string, Float64Array>();

  function handOn(): void {
    for (const [accountId, tally] of tallies) {
      for (const form of forms) {
        const counts = tally.subarray(placeOf[form], placeOf[form] + width);
        if (counts.some((number) => number > 0))
          count({ accountId, subjectId: null, atMs: minutes(minute), labels: [form], counts: [0, ...counts] });
      }
    }
    tallies.clear();
  }

  function tallyOf(accountId: string): Float64Array {
    const now = Math.floor(clock.nowMs() / minutes(1));
    if (now !== minute || tallies.size >= accountsMax) handOn();
    minute = now;
    let tally = tallies.get(accountId);
    if (tally === undefined) {
      tally = new Float64Array(forms.length * width);
      tallies.set(accountId, tally);
    }
    return tally;
  }

  return {
    handOn,

    /** Counts an answer to a GET that has content of an account, or a 304 instead of it, and returns the answer. */
    counted<A extends HttpResponse>(accountId: string, form: ServedForm, method: string | undefined, answer: A): A {
      if (method !== "GET" || answer.status >= 400) return answer;
      const tally = tallyOf(accountId);
      const place = placeOf[form];
      if (answer.status === 304) add(tally, place + 1, 1);
      else {
        add(tally, place, 1);
        add(tally, place + 2, lengthOf(answer));
      }
      return answer;
    },
  };
}

function add(tally: Float64Array, place: number, more: number): void {
  tally[place] = (tally[place] as number) + more;
}

function lengthOf({ body }: HttpResponse): number {
  if (body.kind === "bytes") return body.bytes.length;
  return body.kind === "stream" ? (body.length ?? 0) : 0;
}
