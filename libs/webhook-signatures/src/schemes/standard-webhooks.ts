import { verify as verifyEd25519 } from "node:crypto";
import { anyMatches, hmac, joined, readBase64, readDigest } from "./digest.ts";
import { readPublicKey } from "./ed25519-key.ts";
import { headerValue } from "./header-value.ts";
import { signedMember } from "./payload-member.ts";
import { signaturesMax } from "./signature-pairs.ts";
import type {
  SignatureProblem,
  SignatureScheme,
  SignedRequest,
  Verification,
  VerifyOptions,
} from "./signature-scheme.ts";
import { readSeconds, timeProblem } from "./timestamp-tolerance.ts";

/**
 * Standard Webhooks: `webhook-id`, `webhook-timestamp` and a list in `webhook-signature`, over `id.timestamp.body`.
 * `v1` is HMAC-SHA256 with a `whsec_` secret, `v1a` Ed25519 with a `whpk_` public key. Svix's own header names are
 * accepted too.
 */
export const standardWebhooks: SignatureScheme = {
  signsTime: true,
  secretProblem(secret) {
    if (readPublicKey(secret) || symmetricKey(secret)) return null;
    return "The secret must be whsec_ and 16 to 64 bytes in base 64, or whpk_ and an Ed25519 public key.";
  },
  verify,
  covers: (place) => "pointer" in place || /^(?:webhook|svix)-id$/.test(place.header),
  identify(request, payload) {
    const id = headerValue(request, `${prefixOf(request)}-id`, "delivery_id_missing");
    const deliveryId = "value" in id ? { value: id.value, signed: true } : null;
    // The second is that of a batch of CloudEvents.
    return { deliveryId, eventType: signedMember(payload, ["type"], ["0", "type"]) };
  },
};

/**
 * Returns the key bytes of a `whsec_` secret, with or without its prefix, or null. The specification asks for 24 to 64
 * bytes; real senders, Svix's own example among them, use 18.
 */
export function symmetricKey(secret: string): Buffer | null {
  const bytes = readBase64(secret.startsWith("whsec_") ? secret.slice("whsec_".length) : secret);
  return bytes && bytes.length >= 16 && bytes.length <= 64 ? bytes : null;
}

function verify(request: SignedRequest, options: VerifyOptions): Verification {
  const prefix = prefixOf(request);
  const id = headerValue(request, `${prefix}-id`, "delivery_id_missing");
  if ("problem" in id) return { verified: false, problem: id.problem };
  const timestamp = headerValue(request, `${prefix}-timestamp`, "timestamp_missing");
  if ("problem" in timestamp) return { verified: false, problem: timestamp.problem };
  const signatures = headerValue(request, `${prefix}-signature`, "signature_missing");
  if ("problem" in signatures) return { verified: false, problem: signatures.problem };
  const timestampSeconds = readSeconds(timestamp.value);
  if (timestampSeconds === null) return { verified: false, problem: "timestamp_malformed" };
  const failed = (problem: SignatureProblem) => ({ verified: false, problem, timestampSeconds }) as const;

  const symmetric = options.secrets.map(symmetricKey).filter((key) => key !== null);
  const asymmetric = options.secrets.map(readPublicKey).filter((key) => key !== null);
  if (symmetric.length + asymmetric.length === 0) return failed("secret_unusable");

  const start = `${id.value}.${timestamp.value}.`;
  const list = signatures.value.split(" ").slice(0, signaturesMax);
  const digests = valuesOf(list, "v1", 32);
  const curves = valuesOf(list, "v1a", 64);
  if (digests.length + curves.length === 0) return failed("signature_malformed");

  const right =
    anyMatches(
      symmetric.map((key) => hmac("sha256", key, start, request.body)),
      digests,
    ) ||
    (curves.length > 0 &&
      asymmetric.some((key) => {
        const message = joined([start, request.body]);
        return curves.some((signature) => verifyEd25519(null, message, key, signature));
      }));
  if (!right) return failed("signature_mismatch");
  const problem = timeProblem(timestampSeconds, options);
  return problem ? failed(problem) : { verified: true, timestampSeconds };
}

function valuesOf(list: readonly string[], version: string, bytes: number): Buffer[] {
  return list
    .filter((entry) => entry.startsWith(`${version},`))
    .map((entry) => readDigest(entry.slice(version.length + 1), "base64", bytes))
    .filter((value) => value !== null);
}

function prefixOf({ headers }: SignedRequest): string {
  return !("webhook-id" in headers) && "svix-id" in headers ? "svix" : "webhook";
}
