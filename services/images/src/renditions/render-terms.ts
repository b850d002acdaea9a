import type { Principal } from "@signalbox/auth";
import { seconds } from "@signalbox/core";
import { addressBucket } from "@signalbox/http";
import type { JobTerms } from "@signalbox/imaging";

/** Who asks, and until when they wait. */
interface Asking {
  readonly principal: Principal | null;
  readonly clientAddress: string;
  readonly signal?: AbortSignal;
}

export type TermsOf = (asking: Asking) => JobTerms;

interface Patience {
  /** How long a caller waits for an answer. */
  readonly answerMs: () => number;
}

/** What is left for everything around the image. */
const aroundMs = seconds(2);

/** The terms on which image work is done for a caller. Turns go round by account, and by address where nobody says who they are. */
export function createTermsOf({ answerMs }: Patience): TermsOf {
  return ({ principal, clientAddress, signal }) => {
    const turn = principal?.accountId ?? `address ${addressBucket(clientAddress)}`;
    const endMaxMs = Math.max(seconds(1), answerMs() - aroundMs);
    return { turn, ...(signal && { signal }), endMaxMs, limitMs: endMaxMs };
  };
}
