import { claimAt } from "./delivery-id-place.ts";
import { headerValue, optionalHeader } from "./header-value.ts";
import { soleTextAt, textAtPointer } from "./payload-member.ts";
import {
  type PairNames,
  readSignaturePairs,
  type SignatureTexts,
  type SignedTime,
  signaturesMax,
} from "./signature-pairs.ts";
import type {
  Claim,
  SignatureProblem,
  SignatureScheme,
  SignedRequest,
  ValuePlace,
  Verification,
  VerifyOptions,
} from "./signature-scheme.ts";
import {
  type ContentPart,
  parseSignedContent,
  payloadIn,
  readsMembers,
  signedPieces,
  signs,
  signsPlace,
} from "./signed-content.ts";
import { usableSecrets } from "./text-secret.ts";
import { readTime, type TimeUnit, timeProblem } from "./timestamp-tolerance.ts";

/** Differences between senders that sign a text made of parts of the request. */
export interface TemplateOptions {
  /** Template of the signed text; see `parseSignedContent`. */
  readonly signedContent: string;
  readonly timeUnit: TimeUnit;
  readonly signatureHeader: string;
  /** Place of the only signature in the body, for senders that write it there; null for one in a header. */
  readonly signatureFrom: { readonly pointer: string } | null;
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
  readonly secretProblem: (secret: string, acceptsShort?: boolean) => string | null;
  /** Returns the keys that may have signed a request, or the reason why there is none. */
  readonly readKeys: (limits: VerifyOptions, request: SignedRequest) => readonly Key[] | SignatureProblem;
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
  const covers = (place: ValuePlace): boolean =>
    parts !== null &&
    (signsPlace(parts, place) ||
      ("header" in place && place.header === options.deliveryIdHeader && signs(parts, "id")));
  const hasMembers = parts !== null && readsMembers(parts);
  const isIdSigned = covers({ header: options.deliveryIdHeader });
  const headerOf = (request: SignedRequest, header: string): Claim | null =>
    claimAt({ header }, { covers }, request, null);
  const member = (payload: unknown, name: string): Claim | null =>
    claimAt({ pointer: `/${name}` }, { covers }, null, payload);
  const { timestampFrom } = options;
  return {
    hasUnsignedId: isIdSigned ? undefined : true,
    guessesId: isIdSigned ? undefined : true,
    readsForms: hasMembers ? true : undefined,
    readsText: hasMembers ? true : undefined,
    signsTime: parts !== null && (signs(parts, "timestamp") || (timestampFrom !== null && covers(timestampFrom))),
    verifyTime: timestampFrom === null ? undefined : verifyTimeAt(timestampFrom, options.timeUnit),
    proofHeaders: [options.signatureHeader, options.previousSignatureHeader].filter((name) => name !== null),
    secretProblem: signatures.secretProblem,
    verify: (request, limits) =>
      parts === null
        ? { verified: false, problem: "signature_mismatch" }
        : verify(request, limits, { options, parts, signatures }),
    signedText: parts === null || signs(parts, "body") ? undefined : signedTextBy(parts, options),
    covers,
    identify(request, payload) {
      const header = headerOf(request, options.eventTypeHeader);
      return {
        // The body's id often names its subject, and several deliveries may be about one subject.
        deliveryId: headerOf(request, options.deliveryIdHeader) ?? member(payload, "id"),
        eventType: header?.signed ? header : (member(payload, "type") ?? header),
      };
    },
  };
}

const signedTextBy =
  (parts: readonly ContentPart[], { deliveryIdHeader, timestampHeader }: TemplateOptions) =>
  (request: SignedRequest): string => {
    const timestamp = optionalHeader(request, timestampHeader);
    const pieces = signedPieces(parts, request, { timestamp, idHeader: deliveryIdHeader, secret: "" });
    return "problem" in pieces ? "" : pieces.join("");
  };

/** Creates the reader of keys that secrets stand for. */
export const keysFrom =
  <Key>(readKey: (secret: string) => Key | null) =>
  ({ secrets }: VerifyOptions): readonly Key[] | SignatureProblem => {
    const keys = secrets.map(readKey).filter((key) => key !== null);
    return keys.length === 0 ? "secret_unusable" : keys;
  };

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

/** Returns the request under its URL with and without the port: Twilio signs either, by the product that sends. */
function spellingsOf(request: SignedRequest): readonly SignedRequest[] {
  const [, scheme = "", user = "", host = "", port, rest = ""] =
    /^(https?):\/\/([^@/?#]*@)?([^:/?#]+|\[[^\]]*\])(:\d+)?(.*)$/is.exec(request.url) ?? [];
  if (host === "") return [request];
  const other = port === undefined ? (scheme.toLowerCase() === "https" ? ":443" : ":80") : "";
  return [request, { ...request, url: `${scheme}://${user}${host}${other}${rest}` }];
}

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
  const keys = signatures.readKeys(limits, request);
  if (typeof keys === "string") return failed(keys);

  // Only a template with the secret has another content for each.
  const secrets = signs(parts, "secret") ? usableSecrets(limits.secrets) : [""];
  const requests = signs(parts, "url") ? spellingsOf(request) : [request];
  let isRight = false;
  for (const secret of secrets) {
    for (const one of requests) {
      const content = signedPieces(parts, one, { timestamp, idHeader: options.deliveryIdHeader, secret });
      if ("problem" in content) return failed(content.problem);
      if (signatures.matches(keys, content, given)) isRight = true;
    }
  }
  if (!isRight) return failed("signature_mismatch");
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
  if (options.signatureFrom) {
    const signature = soleTextAt(payloadIn(request), options.signatureFrom.pointer);
    return signature ? { ...time, signatures: [signature] } : { problem: "signature_missing" };
  }
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
