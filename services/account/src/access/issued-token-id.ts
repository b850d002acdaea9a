import { builtInIssuer } from "@signalbox/auth";

const prefix = `jti:${builtInIssuer}:`;

/** Returns the id of one of our tokens on the state topic and in the audit. */
export const issuedTokenId = (jti: string): string => `${prefix}${jti}`;

/** Returns the `jti` of one of our tokens from its credential id; null for any other credential. */
export const jtiOf = (credentialId: string): string | null =>
  credentialId.startsWith(prefix) ? credentialId.slice(prefix.length) : null;
