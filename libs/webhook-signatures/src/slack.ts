import { anyMatches, hmac, readDigest } from "./digest.ts";
import { headerValue } from "./header-value.ts";
import { signedMember, textAt } from "./payload-member.ts";
import type { SignatureScheme, SignedRequest, Verification, VerifyOptions } from "./signature-scheme.ts";
import { readSeconds, timeProblem } from "./signed-time.ts";
import { textSecretProblem, usableSecrets } from "./text-secret.ts";

/** Slack: `X-Slack-Signature: v0=…`, hex HMAC-SHA256 over `v0:timestamp:body`. */
export const slack: SignatureScheme = {
  mediaTypes: ["application/json", "application/x-www-form-urlencoded"],
  readsForms: true,
  signsTime: true,
  secretProblem: textSecretProblem,
  verify,
  identify: (_request, payload) => ({
    deliveryId: signedMember(payload, ["event_id"], ["trigger_id"]),
    eventType: signedMember(payload, ["event", "type"], ["type"], ["command"]),
  }),
  challenge: (payload) => (textAt(payload, ["type"]) === "url_verification" ? textAt(payload, ["challenge"]) : null),
};

function verify(request: SignedRequest, options: VerifyOptions): Verification {
  const timestamp = headerValue(request, "x-slack-request-timestamp", "timestamp_missing");
  if ("problem" in timestamp) return { verified: false, problem: timestamp.problem };
  const header = headerValue(request, "x-slack-signature", "signature_missing");
  if ("problem" in header) return { verified: false, problem: header.problem };
  const timestampSeconds = readSeconds(timestamp.value);
  if (timestampSeconds === null) return { verified: false, problem: "timestamp_malformed" };
  const given = header.value.startsWith("v0=") ? readDigest(header.value.slice("v0=".length), "hex", 32) : null;
  if (!given) return { verified: false, problem: "signature_malformed" };
  const secrets = usableSecrets(options.secrets);
  if (secrets.length === 0) return { verified: false, problem: "secret_unusable" };
  const expected = secrets.map((secret) => hmac("sha256", secret, `v0:${timestamp.value}:`, request.body));
  if (!anyMatches(expected, [given])) return { verified: false, problem: "signature_mismatch" };
  const problem = timeProblem(timestampSeconds, options);
  return problem ? { verified: false, problem } : { verified: true, timestampSeconds };
}
