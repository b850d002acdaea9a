import { MiB } from "@signalbox/core";

/** What one source may have in hand in this process, and all of them together: nobody's burst takes the memory of others. */
export interface AdmissionLimits {
  /** Requests whose body is there, until they are answered. */
  readonly requestsPerSource: number;
  /** Requests whose body is on its way. */
  readonly arrivingPerSource: number;
  readonly arriving: number;
  /** Bytes that have come, of both. */
  readonly bytesPerSource: number;
  readonly bytes: number;
}

const defaults: AdmissionLimits = {
  ...{ requestsPerSource: 64, arrivingPerSource: 256, arriving: 2_048 },
  ...{ bytesPerSource: 8 * MiB, bytes: 64 * MiB },
};

/** A request in hand. */
export interface Place {
  /** Counts bytes of the body that came. False when they are too many, even if everybody else gave way. */
  moved(bytes: number): boolean;
  /** Says that the body is there. False when the source has as many requests in hand as it may. */
  arrived(): boolean;
  leave(): void;
}

interface Arriving {
  bytes: number;
  /** Tells the request that it lost its place. */
  readonly giveWay: () => void;
  readonly leave: () => void;
}

interface Hand {
  requests: number;
  bytes: number;
  /** The one that has stood still for the longest time comes first. */
  readonly arriving: Set<Arriving>;
}

const emptyHand = (): Hand => ({ requests: 0, bytes: 0, arriving: new Set() });

/**
 * Counts the requests in hand and the bytes that they brought. A body on its way holds nothing that another needs: where there
 * are too many of them, or too many bytes, the one that has stood still for the longest time gives way.
 */
export function createAdmission(limits: AdmissionLimits = defaults) {
  const hands = new Map<string, Hand>();
  const all = emptyHand();
  const ofSource = { bytes: limits.bytesPerSource, arriving: limits.arrivingPerSource };

  return {
    /** Null when the source has as many requests in hand as it may. `giveWay` is called if another takes the place. */
    enter(sourceId: string, giveWay: () => void): Place | null {
      const own = hands.get(sourceId) ?? emptyHand();
      if (own.requests >= limits.requestsPerSource) return null;
      hands.set(sourceId, own);
      const both = [own, all];
      let [inWork, isGone] = [0, false];
      const leave = (): void => {
        if (isGone) return;
        isGone = true;
        for (const hand of both) {
          hand.arriving.delete(request);
          hand.bytes -= request.bytes;
        }
        own.requests -= inWork;
        if (own.requests === 0 && own.arriving.size === 0) hands.delete(sourceId);
      };
      const request: Arriving = { bytes: 0, giveWay, leave };
      const hasRoom = () => makeRoom(own, ofSource, request) && makeRoom(all, limits, request);
      for (const hand of both) hand.arriving.add(request);
      hasRoom();
      return {
        leave,
        moved(bytes) {
          if (isGone) return false;
          request.bytes += bytes;
          for (const hand of both) {
            hand.bytes += bytes;
            // To the end: it moves.
            hand.arriving.delete(request);
            hand.arriving.add(request);
          }
          return hasRoom();
        },
        arrived() {
          if (isGone || own.requests >= limits.requestsPerSource) return false;
          for (const hand of both) hand.arriving.delete(request);
          inWork = 1;
          own.requests++;
          return true;
        },
      };
    },
  };
}

export type Admission = ReturnType<typeof createAdmission>;

/** Lets others give way until there is room for a request, which is false where they cannot make it. */
function makeRoom(hand: Hand, most: Pick<AdmissionLimits, "bytes" | "arriving">, asking: Arriving): boolean {
  for (const request of hand.arriving) {
    const isTooMuch = hand.bytes > most.bytes;
    if (!isTooMuch && hand.arriving.size <= most.arriving) return true;
    if (request === asking || (isTooMuch && request.bytes === 0)) continue;
    request.leave();
    request.giveWay();
  }
  return hand.bytes <= most.bytes;
}
