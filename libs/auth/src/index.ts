export {
  type Access,
  accessOfState,
  requireScopes,
  requireState,
  requireStepUp,
  stepUpMaxAgeMs,
} from "./access-rules.ts";
export type { AccessChange, AccessEntry, AccessStates } from "./access-states.ts";
export { createApiKey, digestApiKey, looksLikeApiKey, type ParsedApiKey, parseApiKey, sameDigest } from "./api-key.ts";
export type { Authenticator } from "./authenticator.ts";
export { type Credential, credentialBytesMax, credentialFrom, digestCredential } from "./credential.ts";
export { internalTokenHeader, internalTokenMatches } from "./internal-token.ts";
export type { Principal, PrincipalCredential } from "./principal.ts";
export type { PrincipalSource } from "./principal-source.ts";
