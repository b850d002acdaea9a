import { hash } from "node:crypto";
import { anyMatches, readBase64 } from "./digest.ts";
import { headerValue } from "./header-value.ts";
import { parseExactly } from "./parse-exactly.ts";
import { textAt, textsAtPointer } from "./payload-member.ts";
import type {
  Claim,
  SignatureProblem,
  SignatureScheme,
  SignedRequest,
  Verification,
  VerifyOptions,
} from "./signature-scheme.ts";
import { soleParameter } from "./signed-content.ts";
import { standardWebhooks, symmetricKey } from "./standard-webhooks.ts";
import { textSecretProblem, usableSecrets } from "./text-secret.ts";

/** Differences between senders that only send a shared secret. */
export interface TokenOptions {
  readonly tokenHeader: string;
  /**
   * `plain`: the header is the secret. `bearer`: the secret follows `Bearer`. `basic`: the secret is `user:password`.
   */
  readonly tokenFormat: "plain" | "bearer" | "basic";
  /**
   * Place of the secret instead of a header: the body, where every item of a list on the way must hold it; a parameter of
   * the query; or the segment of the path after the address of the source.
   */
  readonly tokenFrom: "path" | { readonly pointer: string } | { readonly query: string } | null;
  /** True for a sender that signs by Standard Webhooks once it has a `whsec_` secret, in place of its token or beside it. */
  readonly signingToken: boolean;
}

export const tokenDefaults: TokenOptions = {
  tokenHeader: "authorization",
  tokenFormat: "bearer",
  tokenFrom: null,
  signingToken: false,
};

/**
 * Creates a scheme for senders that sign nothing and send a secret instead. It proves the sender, not the content: one
 * captured webhook allows sending any other.
 */
export function createTokenScheme(overrides: Partial<TokenOptions> = {}): SignatureScheme {
  const options: TokenOptions = { ...tokenDefaults, ...overrides };
  return {
    hasUnsignedId: true,
    signsTime: false,
    proofHeaders: options.tokenFrom ? [] : [options.tokenHeader],
    secretProblem(secret, acceptsShort) {
      const problem = textSecretProblem(secret, acceptsShort);
      if (problem !== null || options.tokenFormat !== "basic") return problem;
      return secret.includes(":") ? null : "The secret of basic must be user:password.";
    },
    verify: (request, limits) => verify(request, limits, options),
    covers: () => false,
    identify: (_request, payload) => ({
      deliveryId: unsignedMember(payload, "id"),
      eventType: unsignedMember(payload, "type"),
    }),
  };
}

function unsignedMember(payload: unknown, name: string): Claim | null {
  const value = textAt(payload, [name]);
  return value === null ? null : { value, signed: false };
}

/** Verifies the signature by the secrets that sign, else the token by the others. */
function verify(request: SignedRequest, limits: VerifyOptions, options: TokenOptions): Verification {
  const isSigning = (secret: string) =>
    options.signingToken && secret.startsWith("whsec_") && symmetricKey(secret) !== null;
  const signing = limits.secrets.filter(isSigning);
  const others = limits.secrets.filter((secret) => !isSigning(secret));
  if (signing.length === 0) return verifyToken(request, others, options);
  const verification = standardWebhooks.verify(request, { ...limits, secrets: signing });
  if (verification.verified || others.length === 0) return verification;
  const byToken = verifyToken(request, others, options);
  return byToken.verified ? byToken : verification;
}

function verifyToken(request: SignedRequest, secrets: readonly string[], options: TokenOptions): Verification {
  const tokens = tokensOf(request, options);
  if (typeof tokens === "string") return { verified: false, problem: tokens };
  const usable = usableSecrets(secrets);
  if (usable.length === 0) return { verified: false, problem: "secret_unusable" };
  // Digests have one length, so the time does not reveal the length of the secret.
  const right = usable.map(digest);
  const matches = tokens.map((token) => anyMatches(right, [digest(token)])).every((isRight) => isRight);
  return matches ? { verified: true, timestampSeconds: null } : { verified: false, problem: "token_mismatch" };
}

function tokensOf(request: SignedRequest, options: TokenOptions): readonly (string | Buffer)[] | SignatureProblem {
  const { tokenFrom } = options;
  if (tokenFrom !== null && typeof tokenFrom === "object" && "pointer" in tokenFrom)
    return tokensIn(request.body, tokenFrom.pointer);
  if (tokenFrom !== null) {
    const token = tokenFrom === "path" ? tokenInPath(request) : soleParameter(request, tokenFrom.query);
    return token === null || token === "" ? "token_missing" : [token];
  }
  const header = headerValue(request, options.tokenHeader, "token_missing");
  if ("problem" in header) return header.problem;
  const token = tokenOf(header.value, options.tokenFormat);
  return token === null ? "token_malformed" : [token];
}

/** Returns the segment after the address of the source; null without one. */
function tokenInPath({ url }: SignedRequest): string | null {
  const [, segment] = /\/ingest\/[^/?#]+\/([^/?#]+)(?:[?#]|$)/.exec(url) ?? [];
  try {
    return segment === undefined ? null : decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/** Largest number of events in one webhook; no sender sends more. */
const tokensMax = 1_000;

function tokensIn(body: Uint8Array, pointer: string): readonly string[] | SignatureProblem {
  let payload: unknown;
  try {
    payload = parseExactly(Buffer.from(body).toString("utf8"));
  } catch {
    return "token_malformed";
  }
  const tokens = textsAtPointer(payload, pointer);
  if (tokens === null || tokens.length === 0) return "token_missing";
  return tokens.length > tokensMax ? "token_malformed" : tokens;
}

const digest = (text: string | Buffer): Buffer => hash("sha256", text, "buffer");

/** Returns the token in a header; null for another format. */
export function tokenOf(value: string, format: TokenOptions["tokenFormat"]): string | Buffer | null {
  if (format === "plain") return value;
  const [, scheme = "", token = ""] = /^([A-Za-z]+) +(\S+)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== format) return null;
  return format === "bearer" ? token : readBase64(token);
}
