import type { Principal } from "@signalbox/auth";
import { type Clock, seconds } from "@signalbox/core";
import { addressBucket } from "@signalbox/http";
import type { JobTerms } from "@signalbox/imaging";

/** The caller, and the time until which it waits. */
interface Asking {
  readonly principal: Principal | null;
  readonly clientAddress: string;
  readonly signal?: AbortSignal;
}

export type TermsOf = (asking: Asking) => JobTerms;

interface AnswerTime {
  readonly clock: Clock;
  /** Longest time until the answer. */
  readonly answerMs: () => number;
}

/** Time reserved for everything around the image. */
const aroundMs = seconds(2);

/** Creates the terms of image work for a caller. Turns rotate by account, and by address for anonymous callers. */
export function createTermsOf({ clock, answerMs }: AnswerTime): TermsOf {
  return ({ principal, clientAddress, signal }) => {
    const turn = principal?.accountId ?? `address ${addressBucket(clientAddress)}`;
    const limitMs = Math.max(seconds(1), answerMs() - aroundMs);
    return { turn, ...(signal && { signal }), endsByMs: clock.steadyMs() + limitMs, limitMs };
  };
}
