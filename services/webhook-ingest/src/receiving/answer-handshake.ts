import { answerQuestion, type HandshakeAnswer, type Question } from "@signalbox/webhook-signatures";
import type { KnownSource, KnownSources } from "../sources/known-sources.ts";
import type { Judge } from "./judge-webhook.ts";

interface Dependencies extends Pick<Judge, "mayWrite"> {
  readonly knownSources: Pick<KnownSources, "find" | "current">;
}

/** `refused`: the source is there, and its sender does not ask so, or it takes nothing now. */
type HandshakeOutcome =
  | { readonly outcome: "answered"; readonly answer: HandshakeAnswer }
  | { readonly outcome: "refused" | "unknown-source" };

/** Answers a sender that asks whether the address is ours, before it sends anything. */
export function createAnswerHandshake({ knownSources, mayWrite }: Dependencies) {
  const answerBy = (known: KnownSource | null, question: Question): HandshakeOutcome => {
    if (known === null) return { outcome: "unknown-source" };
    const { status, accountId, settings } = known.source;
    const isOpen = status !== "paused" && mayWrite(accountId);
    const asked = isOpen ? settings.handshake : undefined;
    const answer = asked ? answerQuestion(asked, question, known.secrets.verifyToken) : null;
    return answer === null ? { outcome: "refused" } : { outcome: "answered", answer };
  };
  return async function answerHandshake(sourceId: string, question: Question): Promise<HandshakeOutcome> {
    const first = answerBy(await knownSources.find(sourceId), question);
    // A copy may be stale: nobody is turned away by one.
    return first.outcome === "answered" ? first : answerBy(await knownSources.current(sourceId), question);
  };
}
