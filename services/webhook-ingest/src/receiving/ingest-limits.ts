import { minutes } from "@signalbox/core";
import { addressBucket } from "@signalbox/http";
import type { IngestService } from "../context/ingest-service.ts";
import { isLiveAddress } from "../sources/source.ts";
import { isOpen } from "../sources/source-access.ts";
import type { CachedSource } from "../sources/source-row.ts";

/**
 * Returns the seconds to wait when the allowance of a client is used up, else null. Every refusal is counted, and beyond
 * the allowance the next request is answered before its body is read; accepted requests are not counted. Senders share
 * their addresses, and some send a webhook once only, so refusals by sources that accept nothing never count against one
 * that does.
 */
export async function secondsToWait(service: IngestService, address: string, client: string): Promise<number | null> {
  const own = failedVerifications(service).take(pairOf(address, client), 0);
  if (own.remaining <= 0) return own.resetSeconds;
  const shared = unknownSources(service).take(addressBucket(client), 0);
  // Only now, so that other requests are looked up once.
  return shared.remaining > 0 || (await isLive(service, address)) ? null : shared.resetSeconds;
}

/** Counts a refusal by a source that is unknown, paused or blocked: these are answered alike. */
export const countUnknownSource = (service: IngestService, client: string): void =>
  void unknownSources(service).take(addressBucket(client));

export const countFailedVerification = (service: IngestService, address: string, client: string): void =>
  void failedVerifications(service).take(pairOf(address, client));

/** The refusals of an address by unknown, paused and blocked sources. */
const unknownSources = ({ limiterOf, configuration }: IngestService) =>
  limiterOf({
    name: "ingest-unknown",
    limit: configuration.get("webhook-ingest.refusals.unknown-sources"),
    windowMs: minutes(1),
  });

/** The failed verifications of an address at a source. */
const failedVerifications = ({ limiterOf, configuration }: IngestService) =>
  limiterOf({
    name: "ingest-failed",
    limit: configuration.get("webhook-ingest.refusals.failed-verifications"),
    windowMs: minutes(1),
  });

const pairOf = (address: string, client: string): string => `${address} ${addressBucket(client)}`;

/** Returns true when an open source has this address. A stale copy turns no webhook away. */
async function isLive(service: IngestService, address: string): Promise<boolean> {
  const { sourceCache, clock } = service;
  const id = await sourceCache.idAt(address);
  const accepts = (known: CachedSource | null): boolean =>
    known !== null && isLiveAddress(known.source, address, clock.nowMs()) && isOpen(service, known.source);
  return accepts(await sourceCache.find(id)) || accepts(await sourceCache.current(id));
}
