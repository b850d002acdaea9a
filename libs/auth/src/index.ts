import * as principalProtocol from "./principal-protocol.ts";

export {
  describeState,
  isClientKey,
  recentUntil,
  requireAdmitted,
  requireEitherScopes,
  requireOwnAccount,
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
export { internalTokenHeader, judgeInternalCall } from "./internal-token.ts";
export { builtInIssuer, type Issuer, ownRoleNames, parseIssuers } from "./issuers.ts";
export type { KeySet } from "./jwks-cache.ts";
export { createManagementAuthorizer } from "./management-authorizer.ts";
export {
  type Caller,
  type Portal,
  type Principal,
  type PrincipalCredential,
  type PrincipalSource,
  personOf,
  type Viewer,
} from "./principal.ts";
export { createPrincipalClient } from "./principal-client.ts";
export { internalProperties, principalProperties } from "./properties.ts";
export { limitedClaim } from "./token-claims.ts";
export { createTokenVerifier, type TokenVerifier, type VerifiedToken } from "./token-verifier.ts";
export { expiryOf, isSignedBy, queryOf, readSignature, signatureParameter, signGrant } from "./url-signature.ts";

/** Questions of services to account about principals, with its answers. */
export { principalProtocol };
