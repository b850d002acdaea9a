import { minutes } from "@signalbox/core";
import { addressBucket } from "@signalbox/http";
import type { EdgeLimits } from "@signalbox/service";

type LimiterOf = EdgeLimits["limiterOf"];

/** How many refusals a minute a sender hears before it is turned away unread. */
export interface IngestAllowance {
  /** For ids that belong to no source, by address. */
  readonly unknownSources: number;
  /** For one source and address, of webhooks that were not verified. */
  readonly failedVerifications: number;
}

/**
 * Bounds what a sender can try: every refusal is counted, and past the allowance the next request is answered before its body
 * is read. What is accepted is never counted here.
 */
export function createIngestLimits(limiterOf: LimiterOf, allowance: IngestAllowance) {
  const policyOf = (name: string, limit: number) => limiterOf({ name, limit, windowMs: minutes(1) });
  const unknown = policyOf("ingest-unknown", allowance.unknownSources);
  const failed = policyOf("ingest-failed", allowance.failedVerifications);
  const pairOf = (sourceId: string, address: string) => `${sourceId} ${addressBucket(address)}`;

  return {
    /** Seconds to wait when the allowance is used up, else null. Counts nothing. */
    secondsToWait(sourceId: string, address: string): number | null {
      const decisions = [unknown.take(addressBucket(address), 0), failed.take(pairOf(sourceId, address), 0)];
      return decisions.find(({ remaining }) => remaining <= 0)?.resetSeconds ?? null;
    },
    countUnknownSource: (address: string) => void unknown.take(addressBucket(address)),
    countFailedVerification: (sourceId: string, address: string) => void failed.take(pairOf(sourceId, address)),
  };
}

export type IngestLimits = ReturnType<typeof createIngestLimits>;
