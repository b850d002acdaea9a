import { type KeyObject, verify as verifyEd25519 } from "node:crypto";
import { type DigestAlgorithm, type DigestEncoding, joined, readDigest, readers } from "./digest.ts";
import { publicKeyOf } from "./ed25519-key.ts";
import type { SignatureScheme, ValuePlace } from "./signature-scheme.ts";
import { createTemplateScheme, keysFrom, type TemplateOptions } from "./template-scheme.ts";

/** Differences between senders that sign with a private key. The defaults are those of Discord. */
export interface Ed25519Options extends TemplateOptions {
  /** `raw`: 32 bytes of Ed25519; `spki`: a key of any kind; `certificate`: the request names a certificate. */
  readonly keyFormat: "raw" | "spki" | "certificate";
  /** Hash of RSA and ECDSA. */
  readonly algorithm: DigestAlgorithm;
  /** Another hash that its signatures may have, for a sender with two versions; null for none. */
  readonly otherAlgorithm: DigestAlgorithm | null;
  readonly acceptWeak: boolean;
  /** Place of the URL of the certificate. */
  readonly certificateFrom: ValuePlace | null;
  /** URLs that a certificate may have; `*` stands for a label of the host or a part of a segment of the path. */
  readonly certificateUrls: readonly string[];
  readonly encoding: DigestEncoding;
  /** Encoding of the public key, which takes the place of a secret. */
  readonly secretEncoding: "hex" | "base64";
}

export const ed25519Defaults: Ed25519Options = {
  keyFormat: "raw",
  algorithm: "sha256",
  otherAlgorithm: null,
  acceptWeak: false,
  certificateFrom: null,
  certificateUrls: [],
  encoding: "hex",
  secretEncoding: "hex",
  signedContent: "{timestamp}{body}",
  timeUnit: "s",
  signatureHeader: "x-signature-ed25519",
  signatureFrom: null,
  previousSignatureHeader: null,
  signaturePrefix: "",
  signatureSeparator: null,
  pairs: null,
  timestampHeader: "x-signature-timestamp",
  timestampFrom: null,
  deliveryIdHeader: "x-delivery-id",
  eventTypeHeader: "x-event-type",
};

const signatureBytes = 64;

/**
 * Creates a scheme for senders that sign with a private key and publish the public one. Default: over `timestamp` and
 * `body`.
 */
export function createEd25519Scheme(overrides: Partial<Ed25519Options> = {}): SignatureScheme {
  const options: Ed25519Options = { ...ed25519Defaults, ...overrides };
  const readKey = (secret: string) => publicKeyOf(readers[options.secretEncoding](secret));
  return createTemplateScheme<KeyObject>(options, {
    secretProblem(secret) {
      if (readKey(secret) !== null) return null;
      const encoding = options.secretEncoding === "hex" ? "hexadecimal" : "base 64";
      return `The secret of this scheme is the sender's Ed25519 public key: 32 bytes in ${encoding}.`;
    },
    readKeys: keysFrom(readKey),
    readSignature: (text) => readDigest(text, options.encoding, signatureBytes),
    matches: (keys, content, given) => {
      const message = joined(content);
      return keys.some((key) => given.some((signature) => verifyEd25519(null, message, key, signature)));
    },
  });
}
