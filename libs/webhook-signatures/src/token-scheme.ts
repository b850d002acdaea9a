import { hash } from "node:crypto";
import { anyMatches, readBase64 } from "./digest.ts";
import { headerValue } from "./header-value.ts";
import { textAt } from "./payload-member.ts";
import type { Claim, SignatureScheme, SignedRequest, Verification, VerifyOptions } from "./signature-scheme.ts";
import { textSecretProblem, usableSecrets } from "./text-secret.ts";

/** The differences between senders that only show a secret that both know. */
export interface TokenOptions {
  readonly tokenHeader: string;
  /** `plain` = the header is the secret; `bearer` = it stands behind `Bearer`; `basic` = the secret is `user:password`. */
  readonly tokenFormat: "plain" | "bearer" | "basic";
}

const tokenDefaults: TokenOptions = { tokenHeader: "authorization", tokenFormat: "bearer" };

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
    proofHeaders: [options.tokenHeader],
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
  const header = headerValue(request, options.tokenHeader, "token_missing");
  if ("problem" in header) return { verified: false, problem: header.problem };
  const token = tokenOf(header.value, options.tokenFormat);
  if (token === null) return { verified: false, problem: "token_malformed" };
  const usable = usableSecrets(secrets);
  if (usable.length === 0) return { verified: false, problem: "secret_unusable" };
  // Digests are of one length, so the time taken does not tell how long the secret is.
  const matches = anyMatches(usable.map(digest), [digest(token)]);
  return matches ? { verified: true, timestampSeconds: null } : { verified: false, problem: "token_mismatch" };
}

const digest = (text: string | Buffer): Buffer => hash("sha256", text, "buffer");

function tokenOf(value: string, format: TokenOptions["tokenFormat"]): string | Buffer | null {
  if (format === "plain") return value;
  const [, scheme = "", token = ""] = /^([A-Za-z]+) +(\S+)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== format) return null;
  return format === "bearer" ? token : readBase64(token);
}
