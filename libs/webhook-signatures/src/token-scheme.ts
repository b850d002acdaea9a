import { hash } from "node:crypto";
import { anyMatches, readBase64 } from "./digest.ts";
import { headerValue } from "./header-value.ts";
import { textAt, textsAtPointer } from "./payload-member.ts";
import type {
  Claim,
  SignatureProblem,
  SignatureScheme,
  SignedRequest,
  Verification,
  VerifyOptions,
} from "./signature-scheme.ts";
import { textSecretProblem, usableSecrets } from "./text-secret.ts";

/** The differences between senders that only show a secret that both know. */
export interface TokenOptions {
  readonly tokenHeader: string;
  /** `plain` = the header is the secret; `bearer` = it stands behind `Bearer`; `basic` = the secret is `user:password`. */
  readonly tokenFormat: "plain" | "bearer" | "basic";
  /** Where the body holds the secret instead of a header; on a list on the way every item has to have it. */
  readonly tokenFrom: { readonly pointer: string } | null;
}

const tokenDefaults: TokenOptions = { tokenHeader: "authorization", tokenFormat: "bearer", tokenFrom: null };

/**
 * A scheme for senders that sign nothing and show a secret in a header instead. It says who sends, not what: whoever reads
 * one webhook on its way can send any other.
 */
export function createTokenScheme(overrides: Partial<TokenOptions> = {}): SignatureScheme {
  const options: TokenOptions = { ...tokenDefaults, ...overrides };
  return {
    mediaTypes: null,
    namesUnsigned: true,
    signsTime: false,
    signsNothing: true,
    proofHeaders: options.tokenFrom ? [] : [options.tokenHeader],
    secretProblem(secret) {
      const problem = textSecretProblem(secret);
      if (problem !== null || options.tokenFormat !== "basic") return problem;
      return secret.includes(":") ? null : "The secret of Basic is the user, a colon and the password.";
    },
    verify: (request, limits) => verify(request, limits, options),
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

function verify(request: SignedRequest, { secrets }: VerifyOptions, options: TokenOptions): Verification {
  const tokens = options.tokenFrom ? tokensIn(request.body, options.tokenFrom.pointer) : tokensOf(request, options);
  if (typeof tokens === "string") return { verified: false, problem: tokens };
  const usable = usableSecrets(secrets);
  if (usable.length === 0) return { verified: false, problem: "secret_unusable" };
  // Digests are of one length, so the time taken does not tell how long the secret is.
  const right = usable.map(digest);
  const matches = tokens.map((token) => anyMatches(right, [digest(token)])).every((isRight) => isRight);
  return matches ? { verified: true, timestampSeconds: null } : { verified: false, problem: "token_mismatch" };
}

function tokensOf(request: SignedRequest, options: TokenOptions): readonly (string | Buffer)[] | SignatureProblem {
  const header = headerValue(request, options.tokenHeader, "token_missing");
  if ("problem" in header) return header.problem;
  const token = tokenOf(header.value, options.tokenFormat);
  return token === null ? "token_malformed" : [token];
}

/** No sender puts more events into one webhook. */
const tokensMax = 1_000;

function tokensIn(body: Uint8Array, pointer: string): readonly string[] | SignatureProblem {
  let payload: unknown;
  try {
    payload = JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    return "token_malformed";
  }
  const tokens = textsAtPointer(payload, pointer);
  if (tokens === null || tokens.length === 0) return "token_missing";
  return tokens.length > tokensMax ? "token_malformed" : tokens;
}

const digest = (text: string | Buffer): Buffer => hash("sha256", text, "buffer");

/** The token that a header holds; null for what is none. */
export function tokenOf(value: string, format: TokenOptions["tokenFormat"]): string | Buffer | null {
  if (format === "plain") return value;
  const [, scheme = "", token = ""] = /^([A-Za-z]+) +(\S+)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== format) return null;
  return format === "bearer" ? token : readBase64(token);
}
