import { headerValue, optionalHeader, unsignedHeader } from "./header-value.ts";
import { signedMember, textAtPointer } from "./payload-member.ts";
import { type PairNames, readSignaturePairs, type SignatureTexts, signaturesMax } from "./signature-pairs.ts";
import type {
  Claim,
  SignatureProblem,
  SignatureScheme,
  SignedRequest,
  Verification,
  VerifyOptions,
} from "./signature-scheme.ts";
import { type ContentPart, parseSignedContent, signedPieces, signs, signsHeader } from "./signed-content.ts";
import { readTime, type TimeUnit, timeProblem } from "./signed-time.ts";

/** Differences between senders that sign a text made of parts of the request. */
export interface TemplateOptions {
  /** Template of the signed text, with `{timestamp}`, `{id}`, `{body}`, `{method}`, `{url}` and `{header:…}`. */
  readonly signedContent: string;
  readonly timeUnit: TimeUnit;
  readonly signatureHeader: string;
  /** Header with the old secret's signature while a rotation overlaps. */
  readonly previousSignatureHeader: string | null;
  /** Prefix of each signature in the header. */
  readonly signaturePrefix: string;
  /** Separator of several signatures in the header; null when there is only one. */
  readonly signatureSeparator: string | null;
  /** Names of the members of a header such as `t=…,v1=…`; null when it holds signatures only. */
  readonly pairs: PairNames | null;
  readonly timestampHeader: string;
  /** Place of the time in the signed body (RFC 6901); null for a time in a header. */
  readonly timestampFrom: { readonly pointer: string } | null;
  readonly deliveryIdHeader: string;
  /** Read where the body has no `type`, unless the signature covers this header. */
  readonly eventTypeHeader: string;
}

/** Reading and comparison of one kind of signature. */
interface Signatures<Key> {
  readonly secretProblem: (secret: string) => string | null;
  /** Returns the key of a secret; null for an unusable one. */
  readonly readKey: (secret: string) => Key | null;
  /** Returns the bytes of a signature; null for any other text. */
  readonly readSignature: (text: string) => Buffer | null;
  /** Compares each given signature with each expected one, in constant time. */
  readonly matches: (
    keys: readonly Key[],
    content: readonly (string | Uint8Array)[],
    given: readonly Buffer[],
  ) => boolean;
}

/** Creates the scheme of senders that sign a text described by a template. */
export function createTemplateScheme<Key>(options: TemplateOptions, signatures: Signatures<Key>): SignatureScheme {
  const parsed = parseSignedContent(options.signedContent);
  // The edge refuses such a template; one that exists anyway verifies nothing.
  const parts = typeof parsed === "string" ? null : parsed;
  const isSigned = (header: string) => parts !== null && signsHeader(parts, header);
  const idIsSigned = parts !== null && (signs(parts, "id") || isSigned(options.deliveryIdHeader));
  const typeIsSigned = isSigned(options.eventTypeHeader);
  const claimed = (request: SignedRequest, header: string, isCovered: boolean): Claim | null => {
    const claim = unsignedHeader(request, header);
    return claim && { ...claim, signed: isCovered };
  };
  return {
    mediaTypes: null,
    ...(!idIsSigned && { hasUnsignedId: true as const }),
    signsTime: parts !== null && (signs(parts, "timestamp") || options.timestampFrom !== null),
    ...(options.timestampFrom && { verifyTime: verifyTimeAt(options.timestampFrom, options.timeUnit) }),
    proofHeaders: [options.signatureHeader, options.previousSignatureHeader].filter((name) => name !== null),
    secretProblem: signatures.secretProblem,
    verify: (request, limits) =>
      parts === null
        ? { verified: false, problem: "signature_mismatch" }
        : verify(request, limits, { options, parts, signatures }),
    covers: (place) =>
      "header" in place
        ? isSigned(place.header) || (idIsSigned && place.header === options.deliveryIdHeader)
        : parts !== null,
    identify: (request, payload) => ({
      // The body's id often names its subject, and several deliveries may be about one subject.
      deliveryId: claimed(request, options.deliveryIdHeader, idIsSigned) ?? signedMember(payload, ["id"]),
      eventType: typeIsSigned
        ? claimed(request, options.eventTypeHeader, true)
        : (signedMember(payload, ["type"]) ?? unsignedHeader(request, options.eventTypeHeader)),
    }),
  };
}

const verifyTimeAt =
  (place: { readonly pointer: string }, unit: TimeUnit) =>
  (payload: unknown, limits: VerifyOptions): Verification => {
    const text = textAtPointer(payload, place.pointer);
    if (text === null) return { verified: false, problem: "timestamp_missing" };
    const timestampSeconds = readTime(text, unit);
    if (timestampSeconds === null) return { verified: false, problem: "timestamp_malformed" };
    const problem = timeProblem(timestampSeconds, limits);
    return problem ? { verified: false, problem, timestampSeconds } : { verified: true, timestampSeconds };
  };

interface Template<Key> {
  readonly options: TemplateOptions;
  readonly parts: readonly ContentPart[];
  readonly signatures: Signatures<Key>;
}

function verify<Key>(
  request: SignedRequest,
  limits: VerifyOptions,
  { options, parts, signatures }: Template<Key>,
): Verification {
  const texts = readTexts(request, options, signs(parts, "timestamp"));
  if ("problem" in texts) return { verified: false, problem: texts.problem };
  const { timestampText: timestamp, timestampSeconds } = texts;
  const failed = (problem: SignatureProblem) => ({ verified: false, problem, timestampSeconds }) as const;
  const given = texts.signatures.map(signatures.readSignature).filter((signature) => signature !== null);
  if (given.length === 0) return failed("signature_malformed");
  const keys = limits.secrets.map(signatures.readKey).filter((key) => key !== null);
  if (keys.length === 0) return failed("secret_unusable");

  const content = signedPieces(parts, request, { timestamp, idHeader: options.deliveryIdHeader });
  if ("problem" in content) return failed(content.problem);
  if (!signatures.matches(keys, content, given)) return failed("signature_mismatch");
  const problem = timestampSeconds === null ? null : timeProblem(timestampSeconds, limits);
  return problem ? failed(problem) : { verified: true, timestampSeconds };
}

/** Reads the signatures, and the time if it is signed, from one header or two. */
function readTexts(
  request: SignedRequest,
  options: TemplateOptions,
  signsTime: boolean,
): SignatureTexts | { readonly problem: SignatureProblem } {
  const { pairs, timeUnit } = options;
  const timeIsPaired = signsTime && pairs !== null && pairs.timeKey !== null;
  const time = signsTime && !timeIsPaired ? timeOf(request, options) : untimed;
  if ("problem" in time) return time;
  if (pairs === null) {
    const signatures = signatureTexts(request, options);
    return "problem" in signatures ? signatures : { ...time, signatures: signatures.values };
  }
  const header = headerValue(request, options.signatureHeader, "signature_missing");
  if ("problem" in header) return header;
  const names = timeIsPaired ? pairs : { ...pairs, timeKey: null };
  const paired = readSignaturePairs(header.value, names, timeUnit);
  return "problem" in paired || timeIsPaired ? paired : { ...paired, ...time };
}

type SignedTime = Pick<SignatureTexts, "timestampText" | "timestampSeconds">;
const untimed: SignedTime = { timestampText: null, timestampSeconds: null };

function timeOf(request: SignedRequest, options: TemplateOptions): SignedTime | { readonly problem: SignatureProblem } {
  const header = headerValue(request, options.timestampHeader, "timestamp_missing");
  if ("problem" in header) return header;
  const timestampSeconds = readTime(header.value, options.timeUnit);
  if (timestampSeconds === null) return { problem: "timestamp_malformed" };
  return { timestampText: header.value, timestampSeconds };
}

function signatureTexts(
  request: SignedRequest,
  { signatureHeader, previousSignatureHeader, signaturePrefix: prefix, signatureSeparator: separator }: TemplateOptions,
): { readonly values: readonly string[] } | { readonly problem: SignatureProblem } {
  const current = headerValue(request, signatureHeader, "signature_missing");
  if ("problem" in current) return current;
  const listed = separator === null ? [current.value] : current.value.split(separator).map((text) => text.trim());
  const previous = previousSignatureHeader === null ? null : optionalHeader(request, previousSignatureHeader);
  const values = [...listed.slice(0, signaturesMax), previous]
    .filter((value) => value?.startsWith(prefix))
    .map((value) => (value as string).slice(prefix.length));
  return { values };
}
