import type { Principal } from "@signalbox/auth";
import type { CodePlace } from "../codes/one-time-code.ts";

/**
 * Whether a code can raise this credential: the token of a person that is told from other tokens. Without a `jti` the
 * proof would count for every token of that login, a stolen one too.
 */
export const canStepUp = ({ credential }: Principal): boolean =>
  credential.kind === "token" && credential.id.startsWith("jti:");

/** A code raises the credential that asked for it and no other, so a thief's request cannot be answered by the owner. */
export const stepUpPlace = ({ accountId, credential }: Principal): CodePlace => ({
  purpose: "step-up",
  subject: `${accountId} ${credential.id}`,
});
