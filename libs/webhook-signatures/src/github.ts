import { anyMatches, hmac, readDigest } from "./digest.ts";
import { headerValue, unsignedHeader } from "./header-value.ts";
import type { SignatureScheme, SignedRequest, Verification, VerifyOptions } from "./signature-scheme.ts";
import { textSecretProblem, usableSecrets } from "./text-secret.ts";

/** GitHub: `X-Hub-Signature-256: sha256=…`, hex HMAC-SHA256 over the body. The SHA-1 twin is not looked at. */
export const github: SignatureScheme = {
  mediaTypes: ["application/json", "application/x-www-form-urlencoded"],
  readsForms: true,
  namesUnsigned: true,
  signsTime: false,
  secretProblem: textSecretProblem,
  verify,
  identify: (request) => ({
    deliveryId: unsignedHeader(request, "x-github-delivery"),
    eventType: unsignedHeader(request, "x-github-event"),
  }),
};

function verify(request: SignedRequest, options: VerifyOptions): Verification {
  const header = headerValue(request, "x-hub-signature-256", "signature_missing");
  if ("problem" in header) return { verified: false, problem: header.problem };
  const given = header.value.startsWith("sha256=") ? readDigest(header.value.slice("sha256=".length), "hex", 32) : null;
  if (!given) return { verified: false, problem: "signature_malformed" };
  const secrets = usableSecrets(options.secrets);
  if (secrets.length === 0) return { verified: false, problem: "secret_unusable" };
  const expected = secrets.map((secret) => hmac("sha256", secret, request.body));
  if (!anyMatches(expected, [given])) return { verified: false, problem: "signature_mismatch" };
  return { verified: true, timestampSeconds: null };
}
