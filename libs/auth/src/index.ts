export {
  describeState,
  recentUntil,
  requirePortal,
  requireScopes,
  requireState,
  requireStepUp,
  seesEndpoint,
  stateRefusal,
  stepUpChallenge,
  stepUpMaxAgeMs,
} from "./access-rules.ts";
export {
  AccessRecord,
  type AccessStates,
  accessRecordOf,
  accessTopic,
  followAnnouncements,
  knowledgeAgeMs,
  openAccessStates,
} from "./access-states.ts";
export { createApiKey, digestApiKey, looksLikeApiKey, parseApiKey, sameDigest } from "./api-key.ts";
export { type Authenticator, createAuthenticator, isSignedOut, mistyped } from "./authenticator.ts";
export { credentialBytesMax, credentialFrom, type PresentedCredential } from "./credential.ts";
export { internalCaller, internalTokenHeader, internalTokenMatches, mayCallInternally } from "./internal-token.ts";
export { builtInIssuer, type Issuer, ownRoleNames, parseIssuers } from "./issuers.ts";
export type { KeySet } from "./jwks-cache.ts";
export { createManagementAuthorizer } from "./management-authorizer.ts";
export type { Caller, Portal, Principal, PrincipalCredential, PrincipalSource, Viewer } from "./principal.ts";
export { createPrincipalClient } from "./principal-client.ts";
export {
  AdministratorsAnswer,
  AdministratorsQuestion,
  AnnouncementsAnswer,
  administratorsPath,
  announcementsPath,
  answerFromPrincipal,
  PrincipalAnswer,
  PrincipalQuestion,
  principalFromAnswer,
  principalsPath,
} from "./principal-protocol.ts";
export { internalProperties, principalProperties } from "./properties.ts";
export { limitedClaim } from "./token-claims.ts";
export { createTokenVerifier, type TokenVerifier, type VerifiedToken } from "./token-verifier.ts";
