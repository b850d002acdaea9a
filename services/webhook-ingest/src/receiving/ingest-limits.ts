import { minutes } from "@signalbox/core";
import { addressBucket } from "@signalbox/http";
import type { EdgeLimits } from "@signalbox/service";
import { isLiveAddress, isOpen } from "../sources/source.ts";
import type { CachedSource, SourceCache } from "../sources/source-cache.ts";
import type { Judge } from "./judge-webhook.ts";

/** Refusals per minute after which requests are answered unread. */
interface IngestAllowance {
  /** For sources that are unknown, paused or blocked, by address. */
  readonly unknownSources: number;
  /** For failed verifications, by source and address. */
  readonly failedVerifications: number;
}

interface Dependencies {
  readonly limiterOf: EdgeLimits["limiterOf"];
  readonly allowance: IngestAllowance;
  readonly knownSources: Pick<SourceCache, "idAt" | "find" | "current">;
  readonly judge: Pick<Judge, "mayWrite" | "clock">;
}

/**
 * Creates the limits of refused requests: every refusal is counted, and beyond the allowance the next request is
 * answered before its body is read. Accepted requests are not counted. Senders share their addresses, and some send a
 * webhook once only, so refusals by sources that accept nothing never count against one that does.
 */
export function createIngestLimits({ limiterOf, allowance, knownSources, judge }: Dependencies) {
  const { mayWrite, clock } = judge;
  const policyOf = (name: string, limit: number) => limiterOf({ name, limit, windowMs: minutes(1) });
  const unknown = policyOf("ingest-unknown", allowance.unknownSources);
  const failed = policyOf("ingest-failed", allowance.failedVerifications);
  const pairOf = (address: string, client: string) => `${address} ${addressBucket(client)}`;

  /** Returns true when an open source has this address. A stale copy turns no webhook away. */
  async function isLive(address: string): Promise<boolean> {
    const id = await knownSources.idAt(address);
    const accepts = (known: CachedSource | null): boolean =>
      known !== null && isLiveAddress(known.source, address, clock.nowMs()) && isOpen(known.source, mayWrite);
    return accepts(await knownSources.find(id)) || accepts(await knownSources.current(id));
  }

  return {
    /** Returns the seconds to wait when the allowance of a client is used up, else null. Counts nothing. */
    async secondsToWait(address: string, client: string): Promise<number | null> {
      const own = failed.take(pairOf(address, client), 0);
      if (own.remaining <= 0) return own.resetSeconds;
      const shared = unknown.take(addressBucket(client), 0);
      // Only now, so that other requests are looked up once.
      return shared.remaining > 0 || (await isLive(address)) ? null : shared.resetSeconds;
    },
    /** Counts a refusal by a source that is unknown, paused or blocked: these are answered alike. */
    countUnknownSource: (client: string) => void unknown.take(addressBucket(client)),
    countFailedVerification: (address: string, client: string) => void failed.take(pairOf(address, client)),
  };
}

export type IngestLimits = ReturnType<typeof createIngestLimits>;
