import {
  anyMatches,
  type DigestAlgorithm,
  type DigestEncoding,
  digestBytes,
  hmac,
  readBase64,
  readDigest,
  readHex,
} from "./digest.ts";
import type { SignatureScheme } from "./signature-scheme.ts";
import { createTemplateScheme, keysFrom, type TemplateOptions } from "./template-scheme.ts";
import { bytesMin, textSecretProblem } from "./text-secret.ts";

/** Differences between senders that sign with an HMAC. The defaults are the specification's own headers. */
export interface HmacOptions extends TemplateOptions {
  readonly algorithm: DigestAlgorithm;
  /** Allows SHA-1, which no new sender should use. */
  readonly acceptWeak: boolean;
  readonly encoding: DigestEncoding;
  /** Encoding of the key's bytes in the secret. */
  readonly secretEncoding: "utf8" | "hex" | "base64";
}

export const hmacDefaults: HmacOptions = {
  algorithm: "sha256",
  acceptWeak: false,
  encoding: "hex",
  secretEncoding: "utf8",
  signedContent: "{timestamp}.{body}",
  timeUnit: "s",
  signatureHeader: "x-signature",
  signatureFrom: null,
  previousSignatureHeader: "x-signature-previous",
  signaturePrefix: "sha256=",
  signatureSeparator: null,
  pairs: null,
  timestampHeader: "x-timestamp",
  timestampFrom: null,
  deliveryIdHeader: "x-delivery-id",
  eventTypeHeader: "x-event-type",
};

const keyBytesMax = 512;

/** Creates a scheme for senders with an HMAC. Default: over `timestamp.body`, in the specification's headers. */
export function createHmacScheme(overrides: Partial<HmacOptions> = {}): SignatureScheme {
  const options: HmacOptions = { ...hmacDefaults, ...overrides };
  const { algorithm, acceptWeak, encoding, secretEncoding } = options;
  const isUsable = algorithm !== "sha1" || acceptWeak;
  return createTemplateScheme<string | Buffer>(options, {
    secretProblem: (secret, acceptsShort) => secretProblem(secret, secretEncoding, acceptsShort),
    readKeys: keysFrom((secret) => (isUsable ? readKey(secret, secretEncoding) : null)),
    readSignature: (text) => readDigest(text, encoding, digestBytes[algorithm]),
    matches: (keys, content, given) =>
      anyMatches(
        keys.map((key) => hmac(algorithm, key, ...content)),
        given,
      ),
  });
}

/** Reads the key; null for a secret that is empty, which would let anybody sign, or cannot be decoded. */
function readKey(secret: string, encoding: HmacOptions["secretEncoding"]): string | Buffer | null {
  if (secret === "") return null;
  if (encoding === "utf8") return secret;
  return encoding === "hex" ? readHex(secret) : readBase64(secret);
}

function secretProblem(secret: string, encoding: HmacOptions["secretEncoding"], acceptsShort = false): string | null {
  if (encoding === "utf8") return textSecretProblem(secret, acceptsShort);
  const keyBytesMin = bytesMin(acceptsShort);
  const bytes = readKey(secret, encoding)?.length ?? 0;
  if (bytes >= keyBytesMin && bytes <= keyBytesMax) return null;
  const name = encoding === "hex" ? "hexadecimal" : "base 64";
  return `The secret must be ${keyBytesMin} to ${keyBytesMax} bytes in ${name}.`;
}
