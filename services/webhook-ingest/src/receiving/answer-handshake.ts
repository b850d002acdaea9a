import { answerQuestion, type HandshakeAnswer, type Question } from "@signalbox/webhook-signatures";
import type { KnownSource, KnownSources } from "../sources/known-sources.ts";
import { isLiveAddress } from "../sources/source.ts";
import type { Judge, Webhook } from "./judge-webhook.ts";

interface Dependencies extends Pick<Judge, "mayWrite" | "clock"> {
  readonly knownSources: Pick<KnownSources, "find" | "current">;
}

/** `refused`: the source is there, and its sender does not ask so, or it takes nothing now. */
type HandshakeOutcome =
  | { readonly outcome: "answered"; readonly answer: HandshakeAnswer }
  | { readonly outcome: "refused" | "unknown-source" };

type Asked = Pick<Webhook, "sourceId" | "address">;

/** Answers a sender that asks whether the address is ours, before it sends anything. */
export function createAnswerHandshake({ knownSources, mayWrite, clock }: Dependencies) {
  const answerBy = (known: KnownSource | null, { address }: Asked, question: Question): HandshakeOutcome => {
    if (known === null || !isLiveAddress(known.source, address, clock.nowMs())) return { outcome: "unknown-source" };
    const { status, accountId, settings } = known.source;
    const isOpen = status !== "paused" && mayWrite(accountId);
    const handshake = isOpen ? settings.handshake : undefined;
    const answer = handshake ? answerQuestion(handshake, question, known.secrets.verifyToken) : null;
    return answer === null ? { outcome: "refused" } : { outcome: "answered", answer };
  };
  return async function answerHandshake(asked: Asked, question: Question): Promise<HandshakeOutcome> {
    const first = answerBy(await knownSources.find(asked.sourceId), asked, question);
    // A copy may be stale: nobody is turned away by one.
    return first.outcome === "answered" ? first : answerBy(await knownSources.current(asked.sourceId), asked, question);
  };
}
