import { answerHandshakeRequest, type HandshakeAnswer, type HandshakeRequest } from "@signalbox/webhook-signatures";
import type { IngestService } from "../context/ingest-service.ts";
import { isLiveAddress } from "../sources/source.ts";
import { isOpen } from "../sources/source-access.ts";
import type { CachedSource } from "../sources/source-row.ts";

/** `refused`: the sender of the source does not use this handshake. `closed`: the source accepts nothing now. */
export type HandshakeOutcome =
  | { readonly outcome: "answered"; readonly answer: HandshakeAnswer }
  | { readonly outcome: "refused" | "closed" | "unknown-source" };

/** Answers a sender's verification request, before the sender posts anything. */
export async function answerHandshake(
  service: IngestService,
  address: string,
  request: HandshakeRequest,
): Promise<HandshakeOutcome> {
  const { sourceCache } = service;
  const sourceId = await sourceCache.idAt(address);
  const first = answerBy(service, await sourceCache.find(sourceId), address, request);
  // A copy may be stale: no sender is refused by one.
  return first.outcome === "answered"
    ? first
    : answerBy(service, await sourceCache.current(sourceId), address, request);
}

function answerBy(
  service: IngestService,
  known: CachedSource | null,
  address: string,
  request: HandshakeRequest,
): HandshakeOutcome {
  if (known === null || !isLiveAddress(known.source, address, service.clock.nowMs()))
    return { outcome: "unknown-source" };
  const { source, secrets } = known;
  if (!isOpen(service, source)) return { outcome: "closed" };
  const { handshake } = source.settings;
  const proofs = { verifyToken: secrets.verifyToken, secret: secrets.current };
  const answer = handshake ? answerHandshakeRequest(handshake, request, proofs) : null;
  return answer === null ? { outcome: "refused" } : { outcome: "answered", answer };
}
