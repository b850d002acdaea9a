import { minutes } from "@signalbox/core";
import { addressBucket } from "@signalbox/http";
import type { EdgeLimits } from "@signalbox/service";

type LimiterOf = EdgeLimits["limiterOf"];

/** Refusals per minute after which requests are answered unread. */
export interface IngestAllowance {
  /** For unknown sources, by address. */
  readonly unknownSources: number;
  /** For failed verifications, by source and address. */
  readonly failedVerifications: number;
}

/**
 * Creates the limits of refused requests: every refusal is counted, and beyond the allowance the next request is
 * answered before its body is read. Accepted requests are not counted.
 */
export function createIngestLimits(limiterOf: LimiterOf, allowance: IngestAllowance) {
  const policyOf = (name: string, limit: number) => limiterOf({ name, limit, windowMs: minutes(1) });
  const unknown = policyOf("ingest-unknown", allowance.unknownSources);
  const failed = policyOf("ingest-failed", allowance.failedVerifications);
  const pairOf = (sourceId: string, address: string) => `${sourceId} ${addressBucket(address)}`;

  return {
    /** Returns the seconds to wait when the allowance is used up, else null. Counts nothing. */
    secondsToWait(sourceId: string, address: string): number | null {
      const decisions = [unknown.take(addressBucket(address), 0), failed.take(pairOf(sourceId, address), 0)];
      return decisions.find(({ remaining }) => remaining <= 0)?.resetSeconds ?? null;
    },
    countUnknownSource: (address: string) => void unknown.take(addressBucket(address)),
    countFailedVerification: (sourceId: string, address: string) => void failed.take(pairOf(sourceId, address)),
  };
}

export type IngestLimits = ReturnType<typeof createIngestLimits>;
