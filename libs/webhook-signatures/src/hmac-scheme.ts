import { anyMatches, type DigestAlgorithm, type DigestEncoding, hmac, readDigest } from "./digest.ts";
import { headerValue, optionalHeader, unsignedHeader } from "./header-value.ts";
import { signedMember } from "./payload-member.ts";
import { readSignaturePairs } from "./signature-pairs.ts";
import type {
  SignatureProblem,
  SignatureScheme,
  SignedRequest,
  Verification,
  VerifyOptions,
} from "./signature-scheme.ts";
import { readSeconds, timeProblem } from "./signed-time.ts";
import { textSecretProblem, usableSecrets } from "./text-secret.ts";

/** The differences between the many senders that sign with a plain HMAC. The defaults are the specification's own headers. */
export interface HmacOptions {
  readonly algorithm: DigestAlgorithm;
  readonly encoding: DigestEncoding;
  /** `header` = the time in a header of its own; `pairs` = `t=…,v1=…` in the signature header; `none` = no time is signed. */
  readonly time: "header" | "pairs" | "none";
  /** Stands between the signed time and the body. */
  readonly separator: string;
  readonly signatureHeader: string;
  /** Carries the old secret's signature while a rotation overlaps. */
  readonly previousSignatureHeader: string | null;
  /** The text before the digest in the header. */
  readonly signaturePrefix: string;
  readonly timestampHeader: string;
  readonly deliveryIdHeader: string;
  readonly eventTypeHeader: string;
}

const hmacDefaults: HmacOptions = {
  algorithm: "sha256",
  encoding: "hex",
  time: "header",
  separator: ".",
  signatureHeader: "x-signature",
  previousSignatureHeader: "x-signature-previous",
  signaturePrefix: "sha256=",
  timestampHeader: "x-timestamp",
  deliveryIdHeader: "x-delivery-id",
  eventTypeHeader: "x-event-type",
};

const digestBytes = { sha256: 32, sha512: 64 } as const;

/** A scheme for senders with a plain HMAC: over `timestamp.body` in the specification's headers unless told otherwise. */
export function createHmacScheme(overrides: Partial<HmacOptions> = {}): SignatureScheme {
  const options: HmacOptions = { ...hmacDefaults, ...overrides };
  return {
    mediaTypes: null,
    namesUnsigned: true,
    signsTime: options.time !== "none",
    secretProblem: textSecretProblem,
    verify: (request, limits) => verify(request, limits, options),
    identify: (request, payload) => ({
      // The body's id often names the thing it is about, and several deliveries are about one thing.
      deliveryId: unsignedHeader(request, options.deliveryIdHeader) ?? signedMember(payload, ["id"]),
      eventType: unsignedHeader(request, options.eventTypeHeader) ?? signedMember(payload, ["type"]),
    }),
  };
}

function verify(request: SignedRequest, limits: VerifyOptions, options: HmacOptions): Verification {
  const time = readTime(request, options);
  if ("problem" in time) return { verified: false, problem: time.problem };
  const texts = signatureTexts(request, options, time);
  if ("problem" in texts) return { verified: false, problem: texts.problem };
  const given = texts.values
    .map((text) => readDigest(text, options.encoding, digestBytes[options.algorithm]))
    .filter((digest) => digest !== null);
  if (given.length === 0) return { verified: false, problem: "signature_malformed" };
  const secrets = usableSecrets(limits.secrets);
  if (secrets.length === 0) return { verified: false, problem: "secret_unusable" };

  const start = time.timestampText === null ? "" : `${time.timestampText}${options.separator}`;
  const expected = secrets.map((secret) => hmac(options.algorithm, secret, start, request.body));
  if (!anyMatches(expected, given)) return { verified: false, problem: "signature_mismatch" };
  const problem = time.timestampSeconds === null ? null : timeProblem(time.timestampSeconds, limits);
  return problem ? { verified: false, problem } : { verified: true, timestampSeconds: time.timestampSeconds };
}

interface SignedTime {
  readonly timestampText: string | null;
  readonly timestampSeconds: number | null;
  /** The signatures that stood beside the time, where they share a header. */
  readonly signatures: readonly string[];
}

function readTime(request: SignedRequest, options: HmacOptions): SignedTime | { problem: SignatureProblem } {
  if (options.time === "none") return { timestampText: null, timestampSeconds: null, signatures: [] };
  if (options.time === "pairs") {
    const header = headerValue(request, options.signatureHeader, "signature_missing");
    return "problem" in header ? header : readSignaturePairs(header.value);
  }
  const header = headerValue(request, options.timestampHeader, "timestamp_missing");
  if ("problem" in header) return header;
  const timestampSeconds = readSeconds(header.value);
  if (timestampSeconds === null) return { problem: "timestamp_malformed" };
  return { timestampText: header.value, timestampSeconds, signatures: [] };
}

function signatureTexts(
  request: SignedRequest,
  options: HmacOptions,
  time: SignedTime,
): { values: readonly string[] } | { problem: SignatureProblem } {
  if (options.time === "pairs") return { values: time.signatures };
  const current = headerValue(request, options.signatureHeader, "signature_missing");
  if ("problem" in current) return current;
  const previous = options.previousSignatureHeader ? optionalHeader(request, options.previousSignatureHeader) : null;
  const prefix = options.signaturePrefix;
  const values = [current.value, previous]
    .filter((value) => value?.startsWith(prefix))
    .map((value) => (value as string).slice(prefix.length));
  return { values };
}
