import { MiB } from "@signalbox/core";

/** What one source may have in hand in this process, and all of them together: nobody's burst takes the memory of others. */
export interface AdmissionLimits {
  readonly requestsPerSource: number;
  readonly bytesPerSource: number;
  readonly bytes: number;
}

const defaults: AdmissionLimits = { requestsPerSource: 64, bytesPerSource: 8 * MiB, bytes: 64 * MiB };

/** A place for a request. `leave` gives it back. */
export interface Place {
  leave(): void;
}

/** Counts the requests in hand and the bytes that they may bring. */
export function createAdmission(limits: AdmissionLimits = defaults) {
  const inHand = new Map<string, { requests: number; bytes: number }>();
  let bytesInHand = 0;

  return {
    /** Null when the source, or the process, has as much in hand as it may. `bytes` is what the request can bring at most. */
    enter(sourceId: string, bytes: number): Place | null {
      const own = inHand.get(sourceId) ?? { requests: 0, bytes: 0 };
      const isFull = own.requests >= limits.requestsPerSource || own.bytes + bytes > limits.bytesPerSource;
      if (isFull || bytesInHand + bytes > limits.bytes) return null;
      own.requests++;
      own.bytes += bytes;
      bytesInHand += bytes;
      inHand.set(sourceId, own);
      return {
        leave() {
          own.requests--;
          own.bytes -= bytes;
          bytesInHand -= bytes;
          if (own.requests === 0) inHand.delete(sourceId);
        },
      };
    },
  };
}

export type Admission = ReturnType<typeof createAdmission>;
