import { anyMatches, hmac, readDigest } from "./digest.ts";
import { headerValue } from "./header-value.ts";
import { signedMember } from "./payload-member.ts";
import { readSignaturePairs } from "./signature-pairs.ts";
import type { SignatureScheme, SignedRequest, Verification, VerifyOptions } from "./signature-scheme.ts";
import { timeProblem } from "./signed-time.ts";
import { textSecretProblem, usableSecrets } from "./text-secret.ts";

/** Stripe: `Stripe-Signature: t=…,v1=…[,v1=…]`, hex HMAC-SHA256 over `t.body` with the whole secret text as key. */
export const stripe: SignatureScheme = {
  mediaTypes: ["application/json"],
  signsTime: true,
  secretProblem: textSecretProblem,
  verify,
  identify: (_request, payload) => ({
    deliveryId: signedMember(payload, ["id"]),
    eventType: signedMember(payload, ["type"]),
  }),
};

function verify(request: SignedRequest, options: VerifyOptions): Verification {
  const header = headerValue(request, "stripe-signature", "signature_missing");
  if ("problem" in header) return { verified: false, problem: header.problem };
  const pairs = readSignaturePairs(header.value);
  if ("problem" in pairs) return { verified: false, problem: pairs.problem };
  const given = pairs.signatures.map((text) => readDigest(text, "hex", 32)).filter((digest) => digest !== null);
  if (given.length === 0) return { verified: false, problem: "signature_malformed" };
  const secrets = usableSecrets(options.secrets);
  if (secrets.length === 0) return { verified: false, problem: "secret_unusable" };
  const expected = secrets.map((secret) => hmac("sha256", secret, `${pairs.timestampText}.`, request.body));
  if (!anyMatches(expected, given)) return { verified: false, problem: "signature_mismatch" };
  const problem = timeProblem(pairs.timestampSeconds, options);
  return problem ? { verified: false, problem } : { verified: true, timestampSeconds: pairs.timestampSeconds };
}
