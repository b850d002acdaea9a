import { createPublicKey, type KeyObject, verify, X509Certificate } from "node:crypto";
import { type DigestAlgorithm, joined, readBase64, readers } from "./digest.ts";
import { type Ed25519Options, ed25519Defaults } from "./ed25519-scheme.ts";
import { optionalHeader } from "./header-value.ts";
import { soleTextAt } from "./payload-member.ts";
import type {
  SignatureProblem,
  SignatureScheme,
  SignedRequest,
  ValuePlace,
  VerifyOptions,
} from "./signature-scheme.ts";
import { payloadIn } from "./signed-content.ts";
import { createTemplateScheme, keysFrom } from "./template-scheme.ts";
import { textSecretProblem } from "./text-secret.ts";

const rsaBitsMin = 2_048;
/** Longer than a signature of RSA with 4,096 bits. */
const signatureBytesMax = 1_024;

/** Creates a scheme for senders that sign with a private key and publish the public one as SPKI. */
export function createPublicKeyScheme(overrides: Partial<Ed25519Options> = {}): SignatureScheme {
  const options: Ed25519Options = { ...ed25519Defaults, ...overrides };
  return createTemplateScheme(options, {
    secretProblem: (secret) =>
      readKey(secret) === null
        ? "The secret of this scheme is the sender's public key, in PEM or as base 64 of its DER (SPKI): RSA of at least 2,048 bits, an elliptic curve or Ed25519."
        : null,
    readKeys: keysFrom((secret) => (isUsable(options) ? readKey(secret) : null)),
    ...signaturesOf(options),
  });
}

/**
 * Creates a scheme for senders whose requests name a certificate, such as AWS SNS and PayPal. The certificate is read
 * from an address on the allow-list, whose TLS proves it. Its secret binds the source: the topic or the id of the
 * webhook that `{secret}` stands for, because the sender signs for all of its customers with one key.
 */
export function createCertificateScheme(overrides: Partial<Ed25519Options> = {}): SignatureScheme {
  const options: Ed25519Options = { ...ed25519Defaults, ...overrides };
  const patterns = options.certificateUrls.map(urlPattern);
  const hosts = options.certificateUrls.map((url) => urlPattern(hostOf(url)));
  const certificateAt = (request: SignedRequest): string | null => {
    const url = urlIn(request, options.certificateFrom);
    return url !== null && patterns.some((pattern) => pattern.test(url)) ? url : null;
  };
  const scheme = createTemplateScheme(options, {
    secretProblem: textSecretProblem,
    readKeys: (limits, request) =>
      certificateAt(request) === null ? "certificate_not_allowed" : keysOfCertificate(limits, options),
    ...signaturesOf(options),
  });
  const isTrustedHost = (url: string): boolean => hosts.some((pattern) => pattern.test(hostOf(url)));
  return { ...scheme, certificateAt, isTrustedHost };
}

const isUsable = ({ algorithm, otherAlgorithm, acceptWeak }: Ed25519Options): boolean =>
  acceptWeak || ![algorithm, otherAlgorithm].includes("sha1");

/** Returns the scheme, host and port of a URL as text; empty for another text. */
const hostOf = (url: string): string => /^https?:\/\/[^/?#\s@]+(?=[/?#]|$)/.exec(url)?.[0] ?? "";

/** Builds the pattern of a URL with `*`, which matches neither a dot of the host nor a slash. */
function urlPattern(url: string): RegExp {
  const host = hostOf(url);
  const escaped = (text: string, star: string) =>
    text
      .split("*")
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join(star);
  return new RegExp(`^${escaped(host, "[a-z0-9-]{1,63}")}${escaped(url.slice(host.length), "[A-Za-z0-9._-]{1,255}")}$`);
}

function urlIn(request: SignedRequest, place: ValuePlace | null): string | null {
  if (place === null) return null;
  return "header" in place
    ? optionalHeader(request, place.header)
    : (soleTextAt(payloadIn(request), place.pointer) ?? null);
}

function keysOfCertificate(
  { certificate = null, nowSeconds }: VerifyOptions,
  options: Ed25519Options,
): readonly KeyObject[] | SignatureProblem {
  if (!isUsable(options)) return "secret_unusable";
  try {
    const { publicKey, validFromDate, validToDate } = new X509Certificate(certificate ?? "");
    const isValid = validFromDate.getTime() <= nowSeconds * 1_000 && nowSeconds * 1_000 <= validToDate.getTime();
    return isValid && isStrong(publicKey) ? [publicKey] : "certificate_unusable";
  } catch {
    return "certificate_unusable";
  }
}

const isStrong = ({ asymmetricKeyType: type, asymmetricKeyDetails }: KeyObject): boolean =>
  type === "rsa" ? (asymmetricKeyDetails?.modulusLength ?? 0) >= rsaBitsMin : type === "ec" || type === "ed25519";

/** Reads a public key in PEM or as base 64 of its DER; null for any other text, and for a weak key. */
function readKey(secret: string): KeyObject | null {
  const der = secret.startsWith("-----BEGIN PUBLIC KEY-----") ? null : readBase64(secret);
  if (der === null && !secret.startsWith("-----BEGIN PUBLIC KEY-----")) return null;
  try {
    const key = createPublicKey(der === null ? secret : { key: der, format: "der", type: "spki" });
    return isStrong(key) ? key : null;
  } catch {
    return null;
  }
}

function signaturesOf({ algorithm, otherAlgorithm, encoding }: Ed25519Options) {
  const algorithms = otherAlgorithm === null ? [algorithm] : [algorithm, otherAlgorithm];
  return {
    readSignature(text: string): Buffer | null {
      const bytes = readers[encoding](text);
      return bytes && bytes.length > 0 && bytes.length <= signatureBytesMax ? bytes : null;
    },
    matches(keys: readonly KeyObject[], content: readonly (string | Uint8Array)[], given: readonly Buffer[]): boolean {
      const message = joined(content);
      return keys.some((key) =>
        given.some((signature) => algorithms.some((name) => isSignedBy(key, name, message, signature))),
      );
    },
  };
}

function isSignedBy(key: KeyObject, algorithm: DigestAlgorithm, message: Buffer, signature: Buffer): boolean {
  const isEdwards = key.asymmetricKeyType === "ed25519";
  try {
    return verify(isEdwards ? null : algorithm, message, key, signature);
  } catch {
    return false;
  }
}
