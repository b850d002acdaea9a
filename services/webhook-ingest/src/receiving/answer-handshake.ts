import { answerHandshakeRequest, type HandshakeAnswer, type HandshakeRequest } from "@signalbox/webhook-signatures";
import { isLiveAddress, isOpen } from "../sources/source.ts";
import type { CachedSource, SourceCache } from "../sources/source-cache.ts";
import type { Judge } from "./judge-webhook.ts";

interface Dependencies {
  readonly judge: Pick<Judge, "mayWrite" | "clock">;
  readonly knownSources: Pick<SourceCache, "idAt" | "find" | "current">;
}

/** `refused`: the sender of the source does not use this handshake. `closed`: the source accepts nothing now. */
export type HandshakeOutcome =
  | { readonly outcome: "answered"; readonly answer: HandshakeAnswer }
  | { readonly outcome: "refused" | "closed" | "unknown-source" };

const proofsOf = ({ secrets: { verifyToken, current } }: CachedSource) => ({ verifyToken, secret: current });

/** Creates the operation that answers a sender's verification request, before the sender posts anything. */
export function createAnswerHandshake({ knownSources, judge: { mayWrite, clock } }: Dependencies) {
  const answerBy = (known: CachedSource | null, address: string, request: HandshakeRequest): HandshakeOutcome => {
    if (known === null || !isLiveAddress(known.source, address, clock.nowMs())) return { outcome: "unknown-source" };
    if (!isOpen(known.source, mayWrite)) return { outcome: "closed" };
    const { handshake } = known.source.settings;
    const answer = handshake ? answerHandshakeRequest(handshake, request, proofsOf(known)) : null;
    return answer === null ? { outcome: "refused" } : { outcome: "answered", answer };
  };
  return async function answerHandshake(address: string, request: HandshakeRequest): Promise<HandshakeOutcome> {
    const sourceId = await knownSources.idAt(address);
    const first = answerBy(await knownSources.find(sourceId), address, request);
    // A copy may be stale: no sender is refused by one.
    return first.outcome === "answered" ? first : answerBy(await knownSources.current(sourceId), address, request);
  };
}
