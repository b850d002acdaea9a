import { hash } from "node:crypto";
import { anyMatches, type DigestEncoding, readDigest } from "./digest.ts";
import { headerValue } from "./header-value.ts";
import { fittingKeys, isSignedBy, readKeySet, readToken, type Token } from "./json-web-token.ts";
import { textAt } from "./payload-member.ts";
import type {
  Claim,
  SignatureProblem,
  SignatureScheme,
  SignedRequest,
  TimestampTolerance,
  VerifyOptions,
} from "./signature-scheme.ts";
import { type TokenOptions, tokenOf } from "./token-scheme.ts";

/** Differences between senders that send a token signed with a key of their published key set. */
export interface JwtOptions extends Pick<TokenOptions, "tokenHeader"> {
  readonly tokenFormat: "plain" | "bearer";
  /** Required `iss` of a token; null for any. */
  readonly issuer: string | null;
  /** Audience that must be among its `aud`; null for any. */
  readonly audience: string | null;
  /** Claim with the SHA-256 of the body; null without one. */
  readonly bodyDigestClaim: string | null;
  readonly bodyDigestEncoding: DigestEncoding;
  /** Claims with their required texts, such as the `email` of a service account. */
  readonly requiredClaims: readonly { readonly name: string; readonly value: string }[];
}

export const jwtDefaults: JwtOptions = {
  tokenHeader: "authorization",
  tokenFormat: "bearer",
  issuer: null,
  audience: null,
  bodyDigestClaim: null,
  bodyDigestEncoding: "hex",
  requiredClaims: [],
};

/**
 * Longest lifetime of a token. No sender's tokens live longer, and a stolen token without an end would be valid for
 * ever.
 */
const lifeSecondsMax = 86_400;
const addressLengthMax = 1_024;

/**
 * Creates a scheme for senders that authenticate with a JSON Web Token (RFC 7519). Its secret is the sender's key set
 * (RFC 7517), or the URL of the set: the verifier replaces a URL by the set. Without a claim for the body a token
 * proves the sender, not the content.
 */
export function createJwtScheme(overrides: Partial<JwtOptions> = {}): SignatureScheme {
  const options: JwtOptions = { ...jwtDefaults, ...overrides };
  const coversBody = options.bodyDigestClaim !== null;
  const member = (payload: unknown, name: string): Claim | null => {
    const value = textAt(payload, [name]);
    return value === null ? null : { value, signed: coversBody };
  };
  return {
    mediaTypes: null,
    hasUnsignedId: coversBody ? undefined : true,
    signsTime: coversBody,
    proofHeaders: [options.tokenHeader],
    secretProblem,
    keysAt: (secret) => (isAddress(secret) ? secret : null),
    verify(request, limits) {
      const token = tokenIn(request, options);
      if (typeof token === "string") return { verified: false, problem: token };
      const timestampSeconds = numberOf(token, "iat") ?? null;
      const problem = problemOf(token, request.body, limits, options);
      if (problem) return { verified: false, problem, timestampSeconds };
      return { verified: true, timestampSeconds: coversBody ? timestampSeconds : null };
    },
    covers: (place) => coversBody && "pointer" in place,
    identify: (_request, payload) => ({ deliveryId: member(payload, "id"), eventType: member(payload, "type") }),
  };
}

const isAddress = (secret: string): boolean => /^https?:\/\//.test(secret);

function secretProblem(secret: string): string | null {
  if (!isAddress(secret)) {
    return readKeySet(secret)
      ? null
      : "The secret of this scheme is the address of the sender's JWKS, or the JWKS itself.";
  }
  const url = URL.parse(secret);
  if (url === null || /\s/.test(secret) || secret.length > addressLengthMax)
    return "The address of the JWKS is not a valid URL.";
  return url.username || url.password || url.hash
    ? "The address of the JWKS must have no user, no password and no fragment."
    : null;
}

function tokenIn(request: SignedRequest, options: JwtOptions): Token | SignatureProblem {
  const header = headerValue(request, options.tokenHeader, "token_missing");
  if ("problem" in header) return header.problem;
  const text = tokenOf(header.value, options.tokenFormat);
  return (typeof text === "string" ? readToken(text) : null) ?? "token_malformed";
}

/** Verifies the token; null when it is right. */
function problemOf(
  token: Token,
  body: Uint8Array,
  { secrets, nowSeconds, toleranceSeconds }: VerifyOptions,
  options: JwtOptions,
): SignatureProblem | null {
  const sets = secrets.map(readKeySet).filter((set) => set !== null);
  if (sets.length === 0) return "secret_unusable";
  const keys = fittingKeys(sets.flat(), token);
  if (keys.length === 0) return "key_unknown";
  if (!keys.some((key) => isSignedBy(token, key))) return "token_mismatch";
  return claimProblem(token, body, options) ?? timeProblem(token, { nowSeconds, toleranceSeconds });
}

function claimProblem({ claims }: Token, body: Uint8Array, options: JwtOptions): SignatureProblem | null {
  const { issuer, audience, bodyDigestClaim, bodyDigestEncoding, requiredClaims } = options;
  if (issuer !== null && claims.iss !== issuer) return "issuer_mismatch";
  if (audience !== null && ![claims.aud].flat().includes(audience)) return "audience_mismatch";
  if (requiredClaims.some(({ name, value }) => !Object.hasOwn(claims, name) || claims[name] !== value))
    return "claim_mismatch";
  if (bodyDigestClaim === null) return null;
  const claimed = Object.hasOwn(claims, bodyDigestClaim) ? claims[bodyDigestClaim] : null;
  const given = typeof claimed === "string" ? readDigest(claimed, bodyDigestEncoding, 32) : null;
  return given && anyMatches([hash("sha256", body, "buffer")], [given]) ? null : "body_digest_mismatch";
}

/**
 * Checks the times of a token, which is valid from `nbf` to `exp`. A token without an end is valid as long as a signed
 * time is.
 */
function timeProblem(token: Token, { nowSeconds, toleranceSeconds }: TimestampTolerance): SignatureProblem | null {
  const [issued, begins, ends] = ["iat", "nbf", "exp"].map((name) => numberOf(token, name));
  const [earliest, latest] = [nowSeconds - toleranceSeconds, nowSeconds + toleranceSeconds];
  if ([issued, begins, ends].includes(undefined)) return "timestamp_malformed";
  if (issued == null && ends == null) return "timestamp_missing";
  if (Math.max(issued ?? 0, begins ?? 0) > latest) return "timestamp_in_future";
  if (issued != null && issued < earliest - (ends == null ? 0 : lifeSecondsMax)) return "timestamp_too_old";
  if (ends != null && ends < earliest) return "timestamp_too_old";
  return ends != null && issued == null && ends > latest + lifeSecondsMax ? "timestamp_in_future" : null;
}

/** Returns the number in a claim; null without the claim, undefined for another value. */
function numberOf({ claims }: Token, name: string): number | null | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : null;
  return value === null || (typeof value === "number" && value >= 0) ? (value as number | null) : undefined;
}
