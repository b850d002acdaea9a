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
 * that does. A source that keeps refused webhooks reads them all, so that a mended secret brings them back.
 */
export async function secondsToWait(service: IngestService, address: string, client: string): Promise<number | null> {
  const { sourceCache, clock } = service;
  // A stale copy turns no webhook away: a source that was changed on any instance counts anew.
  const own = await sourceCache.judge(
    address,
    (known) => failuresOf(service, known, address, client),
    (failures) => failures === null || failures.remaining > 0,
  );
  if (own !== null && own.remaining <= 0) return own.resetSeconds;
  const shared = unknownSources(service).take(addressBucket(client), 0);
  if (shared.remaining > 0) return null;
  const accepts = (known: CachedSource | null) =>
    known !== null && isLiveAddress(known.source, address, clock.nowMs()) && isOpen(service, known.source);
  // Only now, so that other requests are looked up once.
  return (await sourceCache.judge(address, accepts, Boolean)) ? null : shared.resetSeconds;
}

/** Counts a refusal by a source that is unknown, paused or blocked: these are answered alike. */
export const countUnknownSource = (service: IngestService, client: string): void =>
  void unknownSources(service).take(addressBucket(client));

/** Counts a failed verification at the source as it is now: a change of the source begins anew. */
export async function countFailedVerification(service: IngestService, address: string, client: string): Promise<void> {
  const { sourceCache } = service;
  const known = await sourceCache.find(await sourceCache.idAt(address));
  failedVerifications(service).take(keyOf(address, client, known?.source.revision ?? 0));
}

/** Returns the state of a client's failed verifications; null for a source that never turns it away. */
function failuresOf(service: IngestService, known: CachedSource | null, address: string, client: string) {
  if (known?.source.settings.keepRejectedBodies) return null;
  return failedVerifications(service).take(keyOf(address, client, known?.source.revision ?? 0), 0);
}

const perMinute =
  (name: string, refusals: "unknown-sources" | "failed-verifications") =>
  ({ limiterOf, configuration }: IngestService) =>
    limiterOf({ name, limit: configuration.get(`webhook-ingest.refusals.${refusals}`), windowMs: minutes(1) });

const unknownSources = perMinute("ingest-unknown", "unknown-sources");
const failedVerifications = perMinute("ingest-failed", "failed-verifications");

const keyOf = (address: string, client: string, revision: number): string =>
  `${address} ${revision} ${addressBucket(client)}`;
