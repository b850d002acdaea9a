import { hash, type KeyObject } from "node:crypto";
import { keyOfChain, readFingerprint } from "./certificate-chain.ts";
import { anyMatches, type DigestEncoding, readDigest } from "./digest.ts";
import { headerValue } from "./header-value.ts";
import { fittingKeys, isSignedBy, readKeySet, readToken, sharedSignature, type Token } from "./json-web-token.ts";
import { signedMember, soleTextAt, textAt, textAtPointer } from "./payload-member.ts";
import type {
  Claim,
  DeliveryIdentity,
  SignatureProblem,
  SignatureScheme,
  SignedRequest,
  TimestampTolerance,
  VerifyOptions,
} from "./signature-scheme.ts";
import { payloadIn } from "./signed-content.ts";
import { textSecretProblem, usableSecrets } from "./text-secret.ts";
import { type TokenOptions, tokenOf } from "./token-scheme.ts";

/** Differences between senders that send a token signed with a key of their published key set. */
export interface JwtOptions extends Pick<TokenOptions, "tokenHeader"> {
  /**
   * `jwks`: the secret is a key set or its address; `secret`: the sender signs with the secret itself (HS256);
   * `certificates`: the token brings a chain of certificates along, and the secret is the fingerprint of its root.
   */
  readonly tokenKey: "jwks" | "secret" | "certificates";
  /** Object identifiers of extensions of the chain's certificates, the signer's first. */
  readonly certificateOids: readonly string[];
  /** False for a sender whose tokens have no time; only the body that they cover then binds them. */
  readonly requiresTime: boolean;
  /** Place of the token in the body instead of a header: its claims are then what the sender says. */
  readonly tokenFrom: TokenOptions["tokenFrom"];
  readonly tokenFormat: "plain" | "bearer";
  /** Required `iss` of a token; null for any. */
  readonly issuer: string | null;
  /** Audience that must be among its `aud`; null for any. */
  readonly audience: string | null;
  /** Places of the audience among the claims, for a sender that writes it elsewhere than into `aud`. */
  readonly audienceFrom: readonly { readonly pointer: string }[];
  /** Claim with the SHA-256 of the body; null without one. */
  readonly bodyDigestClaim: string | null;
  readonly bodyDigestEncoding: DigestEncoding;
  /** Claims with their required texts, such as the `email` of a service account. */
  readonly requiredClaims: readonly { readonly name: string; readonly value: string }[];
}

export const jwtDefaults: JwtOptions = {
  tokenHeader: "authorization",
  tokenFormat: "bearer",
  tokenKey: "jwks",
  certificateOids: [],
  requiresTime: true,
  tokenFrom: null,
  issuer: null,
  audience: null,
  audienceFrom: [],
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
 * (RFC 7517), or the URL of the set: the verifier replaces a URL by the set. A token in the body is the whole webhook.
 * One in a header, without a claim for the body, proves the sender and not the content.
 */
export function createJwtScheme(overrides: Partial<JwtOptions> = {}): SignatureScheme {
  const options: JwtOptions = { ...jwtDefaults, ...overrides };
  const pointer = pointerOf(options);
  const isInBody = pointer !== null;
  const isCovered = isInBody || options.bodyDigestClaim !== null;
  const member = (payload: unknown, name: string): Claim | null => {
    const value = textAt(payload, [name]);
    return value === null ? null : { value, signed: isCovered };
  };
  return {
    hasUnsignedId: isCovered ? undefined : true,
    guessesId: isInBody ? undefined : true,
    signsTime: options.requiresTime && isCovered,
    proofHeaders: isInBody ? [] : [options.tokenHeader],
    secretProblem: secretProblems[options.tokenKey],
    keysAt: options.tokenKey === "jwks" ? (secret) => (isAddress(secret) ? secret : null) : undefined,
    verify(request, limits) {
      const token = tokenIn(request, options);
      if (typeof token === "string") return { verified: false, problem: token };
      const timestampSeconds = numberOf(token, "iat") ?? null;
      const problem = problemOf(token, request.body, limits, options);
      if (problem) return { verified: false, problem, timestampSeconds };
      return { verified: true, timestampSeconds: isCovered ? timestampSeconds : null };
    },
    signedText: isInBody ? (request) => soleTextAt(payloadIn(request), pointer) ?? "" : undefined,
    signedValue: isInBody
      ? (payload) => readToken(textAtPointer(payload, pointer) ?? "", keysOf(options))?.claims
      : undefined,
    covers: (place) => isCovered && "pointer" in place,
    identify: (_request, value) =>
      isInBody ? identityIn(value) : { deliveryId: member(value, "id"), eventType: member(value, "type") },
  };
}

const pointerOf = ({ tokenFrom }: JwtOptions): string | null =>
  tokenFrom !== null && typeof tokenFrom === "object" && "pointer" in tokenFrom ? tokenFrom.pointer : null;

/** Finds the identity in the claims of a token in the body: its `jti`, and its `type` or that of its event. */
function identityIn(claims: unknown): DeliveryIdentity {
  const events = textAt(claims, ["events"]);
  const eventType = signedMember(claims, ["type"], ["events", "type"]);
  return {
    deliveryId: signedMember(claims, ["jti"]),
    eventType: eventType ?? (events === null ? null : signedMember(parsedOr(events), ["type"])),
  };
}

function parsedOr(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const keysOf = ({ tokenKey }: JwtOptions) => (tokenKey === "secret" ? "shared" : "public");

const isAddress = (secret: string): boolean => /^https?:\/\//.test(secret);

/** Describes the problem of a shared secret: what everybody can read is none. */
const sharedSecretProblem = (secret: string, acceptsShort?: boolean): string | null =>
  isAddress(secret) || readKeySet(secret)
    ? "With token_key secret the secret is the string that the sender signs with, not a JWKS or its address."
    : textSecretProblem(secret, acceptsShort);

function keySetProblem(secret: string): string | null {
  if (!isAddress(secret)) {
    return readKeySet(secret)
      ? null
      : "The secret of this scheme is the address of the sender's JWKS, or the JWKS itself.";
  }
  const url = URL.parse(secret);
  if (url === null || /\s/.test(secret) || secret.length > addressLengthMax)
    return "The address of the JWKS is not a valid URL.";
  return url.username || url.password || url.hash
    ? "The address of the JWKS must not have a user, a password or a fragment."
    : null;
}

const secretProblems: Readonly<Record<JwtOptions["tokenKey"], SignatureScheme["secretProblem"]>> = {
  jwks: keySetProblem,
  secret: sharedSecretProblem,
  certificates: (secret) =>
    readFingerprint(secret) === null
      ? "With token_key certificates the secret is the SHA-256 fingerprint of the sender's root certificate, in hexadecimal."
      : null,
};

function tokenIn(request: SignedRequest, options: JwtOptions): Token | SignatureProblem {
  const pointer = pointerOf(options);
  if (pointer !== null) {
    const token = soleTextAt(payloadIn(request), pointer);
    return token ? (readToken(token, keysOf(options)) ?? "token_malformed") : "token_missing";
  }
  const header = headerValue(request, options.tokenHeader, "token_missing");
  if ("problem" in header) return header.problem;
  const text = tokenOf(header.value, options.tokenFormat);
  return (typeof text === "string" ? readToken(text, keysOf(options)) : null) ?? "token_malformed";
}

/** Verifies the token; null when it is right. */
function problemOf(
  token: Token,
  body: Uint8Array,
  { secrets, nowSeconds, toleranceSeconds }: VerifyOptions,
  options: JwtOptions,
): SignatureProblem | null {
  const limits = { nowSeconds, toleranceSeconds };
  if (options.tokenKey === "secret") {
    const usable = usableSecrets(secrets).map((secret) => sharedSignature(token, secret));
    if (usable.length === 0) return "secret_unusable";
    if (!anyMatches(usable, [token.signature])) return "token_mismatch";
    return claimProblem(token, body, options) ?? timeProblem(token, limits, options);
  }
  const keys = publicKeysFor(token, secrets, nowSeconds, options);
  if (typeof keys === "string") return keys;
  if (!keys.some((key) => isSignedBy(token, key))) return "token_mismatch";
  return claimProblem(token, body, options) ?? timeProblem(token, limits, options);
}

/** Returns the published keys that may have signed a token, or the reason why there is none. */
function publicKeysFor(
  token: Token,
  secrets: readonly string[],
  nowSeconds: number,
  { tokenKey, certificateOids }: JwtOptions,
): readonly KeyObject[] | SignatureProblem {
  const sets = secrets.map(readKeySet).filter((set) => set !== null);
  const roots = secrets.map(readFingerprint).filter((root) => root !== null);
  if ((tokenKey === "jwks" ? sets : roots).length === 0) return "secret_unusable";
  if (tokenKey === "jwks") return orUnknown(fittingKeys(sets.flat(), token));
  const key = keyOfChain(token.chain, { roots, certificateOids, nowSeconds });
  if (typeof key === "string") return key;
  return orUnknown(fittingKeys([{ ...key.export({ format: "jwk" }) }], { ...token, keyId: null }));
}

const orUnknown = (keys: readonly KeyObject[]) => (keys.length === 0 ? "key_unknown" : keys);

function claimProblem({ claims }: Token, body: Uint8Array, options: JwtOptions): SignatureProblem | null {
  const { issuer, audience, audienceFrom, bodyDigestClaim, bodyDigestEncoding, requiredClaims } = options;
  if (issuer !== null && claims.iss !== issuer) return "issuer_mismatch";
  const audiences = audienceFrom.map(({ pointer }) => textAtPointer(claims, pointer));
  if (audience !== null && !(audienceFrom.length > 0 ? audiences : [claims.aud].flat()).includes(audience))
    return "audience_mismatch";
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
function timeProblem(
  token: Token,
  { nowSeconds, toleranceSeconds }: TimestampTolerance,
  { requiresTime }: JwtOptions,
): SignatureProblem | null {
  const [issued, begins, ends] = ["iat", "nbf", "exp"].map((name) => numberOf(token, name));
  const [earliest, latest] = [nowSeconds - toleranceSeconds, nowSeconds + toleranceSeconds];
  if ([issued, begins, ends].includes(undefined)) return "timestamp_malformed";
  if (issued == null && ends == null) return requiresTime ? "timestamp_missing" : null;
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
