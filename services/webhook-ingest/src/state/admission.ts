import { MiB } from "@signalbox/core";

/** Requests and bytes in hand, per source and in all: one source's burst leaves memory for the others. */
const defaults = {
  /** Requests with a complete body, until they are answered. */
  requestsPerSource: 64,
  /** Requests whose body is still arriving. */
  arrivingPerSource: 256,
  arriving: 2_048,
  /** Bytes received, of both kinds of requests. */
  bytesPerSource: 8 * MiB,
  bytes: 64 * MiB,
};
export type AdmissionLimits = Readonly<typeof defaults>;

export interface Place {
  /** Counts received bytes of the body. Returns false when they are too many even after all others gave way. */
  moved(bytes: number): boolean;
  /** Marks the body as complete. Returns false when the source already has its limit of requests in hand. */
  arrived(): boolean;
  leave(): void;
}

interface Arriving {
  bytes: number;
  /** Cancels the request, whose place another needs. */
  readonly evict: () => void;
  readonly leave: () => void;
}

interface Usage {
  requests: number;
  bytes: number;
  /** Requests with an incomplete body, the one idle for the longest time first. */
  readonly arriving: Set<Arriving>;
}

const emptyUsage = (): Usage => ({ requests: 0, bytes: 0, arriving: new Set() });

/** The requests in hand and their bytes. Of those that are incomplete the one idle for the longest time gives way. */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #usages = new Map<string, Usage>();
  readonly #all = emptyUsage();

  constructor(limits: AdmissionLimits = defaults) {
    this.#limits = limits;
  }

  /** Admits a request; null when its source has too many in hand. `evict`: another request takes the place. */
  enter(sourceId: string, evict: () => void): Place | null {
    const { requestsPerSource } = this.#limits;
    const own = this.#usages.get(sourceId) ?? emptyUsage();
    if (own.requests >= requestsPerSource) return null;
    this.#usages.set(sourceId, own);
    const both = [own, this.#all];
    let [inWork, isGone] = [0, false];
    const leave = (): void => {
      if (isGone) return;
      isGone = true;
      for (const usage of both) {
        usage.arriving.delete(request);
        usage.bytes -= request.bytes;
      }
      own.requests -= inWork;
      if (own.requests === 0 && own.arriving.size === 0) this.#usages.delete(sourceId);
    };
    const request: Arriving = { bytes: 0, evict, leave };
    for (const usage of both) usage.arriving.add(request);
    this.#makeRoom(own, request);
    return {
      leave,
      moved: (bytes) => {
        if (isGone) return false;
        request.bytes += bytes;
        for (const usage of both) {
          usage.bytes += bytes;
          // Moved to the end, because it made progress.
          usage.arriving.delete(request);
          usage.arriving.add(request);
        }
        return this.#makeRoom(own, request);
      },
      arrived: () => {
        if (isGone || own.requests >= requestsPerSource) return false;
        for (const usage of both) usage.arriving.delete(request);
        inWork = 1;
        own.requests++;
        return true;
      },
    };
  }

  /** Makes room among the requests of the source, then among all; returns false when that is not enough. */
  #makeRoom(own: Usage, asking: Arriving): boolean {
    const { bytesPerSource, arrivingPerSource, bytes, arriving } = this.#limits;
    return (
      makeRoom(own, { bytes: bytesPerSource, arriving: arrivingPerSource }, asking) &&
      makeRoom(this.#all, { bytes, arriving }, asking)
    );
  }
}

function makeRoom(usage: Usage, most: { readonly bytes: number; readonly arriving: number }, asking: Arriving) {
  for (const request of usage.arriving) {
    const isTooMuch = usage.bytes > most.bytes;
    if (!isTooMuch && usage.arriving.size <= most.arriving) return true;
    if (request === asking || (isTooMuch && request.bytes === 0)) continue;
    request.leave();
    request.evict();
  }
  return usage.bytes <= most.bytes;
}
