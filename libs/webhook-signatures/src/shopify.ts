import { anyMatches, hmac, readDigest } from "./digest.ts";
import { headerValue, optionalHeader, unsignedHeader } from "./header-value.ts";
import type { SignatureScheme, SignedRequest, Verification, VerifyOptions } from "./signature-scheme.ts";
import { textSecretProblem, usableSecrets } from "./text-secret.ts";

/** Shopify: `X-Shopify-Hmac-Sha256`, base 64 HMAC-SHA256 over the body. */
export const shopify: SignatureScheme = {
  mediaTypes: ["application/json"],
  namesUnsigned: true,
  signsTime: false,
  secretProblem: textSecretProblem,
  verify,
  identify(request) {
    const eventType = unsignedHeader(request, "x-shopify-topic");
    const eventId = optionalHeader(request, "x-shopify-event-id");
    // One merchant action gives the webhooks of all its topics the same event id: alone it would swallow the second topic.
    const value = eventId && eventType ? `${eventId}:${eventType.value}` : eventId;
    const deliveryId = value === null ? unsignedHeader(request, "x-shopify-webhook-id") : { value, signed: false };
    return { deliveryId, eventType };
  },
};

function verify(request: SignedRequest, options: VerifyOptions): Verification {
  const header = headerValue(request, "x-shopify-hmac-sha256", "signature_missing");
  if ("problem" in header) return { verified: false, problem: header.problem };
  const given = readDigest(header.value, "base64", 32);
  if (!given) return { verified: false, problem: "signature_malformed" };
  const secrets = usableSecrets(options.secrets);
  if (secrets.length === 0) return { verified: false, problem: "secret_unusable" };
  const expected = secrets.map((secret) => hmac("sha256", secret, request.body));
  if (!anyMatches(expected, [given])) return { verified: false, problem: "signature_mismatch" };
  return { verified: true, timestampSeconds: null };
}
