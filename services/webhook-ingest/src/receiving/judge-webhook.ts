import { type Clock, newId } from "@signalbox/core";
import { isLive } from "@signalbox/storage";
import {
  answerChallenge,
  type Claim,
  claimAt,
  type DeliveryIdentity,
  type DeliveryIdPlace,
  type HandshakeAnswer,
  type SignatureScheme,
  type SignedRequest,
} from "@signalbox/webhook-signatures";
import type { Certificates } from "../sources/certificates.ts";
import type { KeySets } from "../sources/key-sets.ts";
import { keptHeaders } from "../sources/request-headers.ts";
import { acceptsType, isOpen, type Source } from "../sources/source.ts";
import type { CachedSource } from "../sources/source-cache.ts";
import type { CustomAnswer } from "../sources/source-settings.ts";
import { type DecodedWebhook, decodeBody, type Webhook } from "./decode-body.ts";
import type { Delivery } from "./delivery.ts";
import { digestId } from "./delivery-keys.ts";
import { fittingPayload, readPayload } from "./read-payload.ts";

export type Refused =
  | { readonly outcome: "unknown-source" }
  | {
      readonly outcome:
        | "hidden"
        | "paused"
        | "blocked"
        | "not-verified"
        | "keys-away"
        | "media-type"
        | "coding"
        | "too-large"
        | "malformed"
        | "no-delivery-id"
        | "too-many"
        | "type-refused";
      readonly reason: string;
      /** The time as a request has it whose signature or time is not valid. */
      readonly signedSeconds?: number | null;
    };

export type Judgement =
  | { readonly delivery: Delivery }
  | { readonly outcome: "challenged"; readonly answer: HandshakeAnswer }
  | { readonly outcome: "dropped"; readonly answer: CustomAnswer | undefined }
  | Refused;

export interface Judge {
  readonly clock: Clock;
  readonly keySets: Pick<KeySets, "withKeys" | "reread">;
  readonly certificates: Pick<Certificates, "find" | "confirm">;
  /** Largest difference in milliseconds between a signed time and ours, both ways. */
  readonly toleranceMs: () => number;
  /** Largest body, as it came and decoded. */
  readonly webhookBytesMax: () => number;
  /** Largest event that the log accepts. */
  readonly eventBytesMax: number;
  /** Returns true when the account may receive webhooks now. */
  readonly mayWrite: (accountId: string) => boolean;
}

/** Returns the judge as it was at another time. */
export const judgeAt = (judge: Judge, at: Date): Judge => ({
  ...judge,
  clock: { ...judge.clock, now: () => at, nowMs: () => at.getTime() },
});

/** Decodes a webhook and judges it by a given copy of its source. */
export async function judgeAgainstSource(judge: Judge, webhook: Webhook, known: CachedSource): Promise<Judgement> {
  const decoding = await decodeBody(webhook.body, webhook.headers["content-encoding"], judge.webhookBytesMax());
  return judgeByKeys(judge, { ...webhook, decoding }, known);
}

/**
 * Judges a webhook by the partner's published keys, if it has any. An unknown key makes them be read again, because
 * partners change keys without notice.
 */
export async function judgeByKeys(judge: Judge, webhook: DecodedWebhook, known: CachedSource): Promise<Judgement> {
  const { keySets } = judge;
  if (known.scheme.certificateAt) return judgeByCertificate(judge, webhook, known);
  if (!known.scheme.keysAt) return judgeWebhook(judge, webhook, known);
  const judgeNow = async () => judgeWebhook(judge, webhook, await keySets.withKeys(known));
  const first = await judgeNow();
  if (!("reason" in first)) return first;
  if (first.reason === "key_unknown" && (await keySets.reread(known))) return judgeNow();
  const isAway = first.outcome === "not-verified" && first.reason === "secret_unusable";
  return isAway ? keysAway : first;
}

/** The webhook was not proved wrong: its sender should try again. */
const keysAway = { outcome: "keys-away", reason: "keys_unreachable" } as const;

/**
 * Judges a webhook by the certificate that it names. A request to confirm the address is a challenge only where its URL
 * is at a host of the allow-list.
 */
async function judgeByCertificate(judge: Judge, webhook: DecodedWebhook, known: CachedSource): Promise<Judgement> {
  const { certificateAt, isTrustedHost } = known.scheme;
  const url = certificateAt?.(signedRequest(webhook, known.source)) ?? null;
  const found = url === null ? null : await judge.certificates.find(url);
  const certificate = found?.outcome === "found" ? found.certificate : null;
  const judgement = judgeWebhook(judge, webhook, known, certificate);
  if (found?.outcome === "away" && "reason" in judgement && judgement.outcome === "not-verified") return keysAway;
  const isChallenged = "outcome" in judgement && judgement.outcome === "challenged";
  const confirmUrl = isChallenged ? judgement.answer.confirmUrl : undefined;
  if (confirmUrl === undefined || isTrustedHost?.(confirmUrl)) return judgement;
  return { outcome: "not-verified", reason: "certificate_not_allowed" };
}

/** Refusals of a body that cannot be decoded. */
const undecodedAs = {
  coding: { outcome: "coding", reason: "coding_not_supported" },
  size: { outcome: "too-large", reason: "decoded_body_too_large" },
  malformed: { outcome: "malformed", reason: "body_malformed" },
} as const satisfies Readonly<Record<string, Refused>>;

/** Longest delivery id. A partner's id may be any text, but a longer one would not fit an index. */
const deliveryIdCharactersMax = 512;
const eventTypeCharactersMax = 256;
const contentTypeCharactersMax = 256;

/**
 * Judges a webhook in the order of CONTRACT §7: verify the raw bytes and their time, parse once, find the delivery id,
 * check the type. Before the signature is verified, a source that accepts nothing looks like an unknown one, so that
 * its id reveals nothing about the account.
 */
function judgeWebhook(
  judge: Judge,
  webhook: DecodedWebhook,
  known: CachedSource,
  certificate: string | null = null,
): Judgement {
  const { source } = known;
  const isAccepting = isOpen(source, judge.mayWrite);
  const verified = verifyBytes(judge, webhook, known, certificate);
  const { verification } = verified;
  if (!verification.verified) {
    const { problem: reason, timestampSeconds: signedSeconds = null } = verification;
    return { outcome: isAccepting ? "not-verified" : "hidden", reason, signedSeconds };
  }
  if (source.status === "paused") return { outcome: "paused", reason: "paused" };
  if (!isAccepting) return { outcome: "blocked", reason: "blocked" };
  if (source.status === "stopped") return { outcome: "dropped", answer: source.settings.answer };
  return judgeContent(judge, webhook, known, verified);
}

/**
 * Judges a copy of a webhook that the sender's own API returned to the source's read key: nobody signed it, and the
 * sender may still push the same webhook in other bytes.
 */
export function judgeCopy(judge: Judge, webhook: Webhook, known: CachedSource): Judgement {
  const decoded = { ...webhook, decoding: { body: webhook.body } };
  const verification = { verified: true, timestampSeconds: null } as const;
  const signed = signedRequest(decoded, known.source);
  const judgement = judgeContent(judge, decoded, known, { verification, signed });
  if (!("delivery" in judgement)) return judgement;
  const { deliveryId, eventType } = judgement.delivery;
  return {
    delivery: {
      ...judgement.delivery,
      deliveryId: { ...deliveryId, signed: false },
      eventType: eventType && { ...eventType, signed: false },
      isIdForgeable: false,
      isIdFinal: true,
      isCopy: true,
    },
  };
}

/** The proof of a webhook; without limits its time was not checked. */
interface Verified extends Pick<ReturnType<typeof verifyBytes>, "verification" | "signed"> {
  readonly limits?: ReturnType<typeof verifyBytes>["limits"];
}

/** Judges the content of a webhook whose bytes are proved. */
function judgeContent(
  { clock, eventBytesMax }: Judge,
  { headers, decoding }: DecodedWebhook,
  { source, secrets, scheme }: CachedSource,
  { verification, limits, signed }: Verified,
): Judgement {
  if ("problem" in decoding) return undecodedAs[decoding.problem];
  const { body: decoded } = decoding;
  const bytesMax = source.settings.maxBodyBytes;
  if (bytesMax !== undefined && decoded.length > bytesMax) return { outcome: "too-large", reason: "body_too_large" };

  const contentType = headers["content-type"] ?? null;
  const reading = readPayload(decoded, contentType, scheme);
  if ("problem" in reading) {
    const outcome = reading.problem === "media_type_not_supported" ? "media-type" : "malformed";
    return { outcome, reason: reading.problem };
  }
  const time = (limits && scheme.verifyTime?.(reading.value, limits)) ?? verification;
  if (!time.verified)
    return { outcome: "not-verified", reason: time.problem, signedSeconds: time.timestampSeconds ?? null };
  const handshake = source.settings.handshake ?? scheme.handshake;
  const answer = handshake ? answerChallenge(handshake, reading.value, secrets.current) : null;
  if (answer !== null) return { outcome: "challenged", answer };

  const { deliveryId, eventType } = identityOf(source, scheme, signed, reading.value);
  if (deliveryId !== null && deliveryId.value.length > deliveryIdCharactersMax)
    return { outcome: "no-delivery-id", reason: "delivery_id_too_long" };
  if (!acceptsType(source, eventType?.value ?? null))
    return { outcome: "type-refused", reason: "event_type_not_accepted" };
  const signedSeconds = time.timestampSeconds;
  const receivedAt = clock.now();
  return {
    delivery: {
      id: newId("rcv", receivedAt.getTime()),
      source,
      // Nobody signed an id of ours, although it is made from what was signed.
      deliveryId: storable(deliveryId ?? { value: digestId(signedSeconds, signed.body), signed: false }),
      isIdForgeable: scheme.hasUnsignedId === true || typeof source.settings.deliveryIdFrom === "object",
      isIdFinal: deliveryId?.signed === true && !scheme.covers({ pointer: "/" }),
      isCopy: false,
      origin: "pushed",
      eventType: eventType && storable({ ...eventType, value: eventType.value.slice(0, eventTypeCharactersMax) }),
      contentType: contentType?.slice(0, contentTypeCharactersMax) ?? null,
      headers: keptHeaders(headers, scheme),
      body: signed.body,
      signedText: scheme.signedText?.(signed) ?? null,
      payload: fittingPayload(reading.payload, decoded, eventBytesMax),
      signedSeconds,
      receivedAt,
    },
  };
}

/** Verifies the raw bytes or, where the source says so, the decoded ones; a body that cannot be decoded then fails. */
function verifyBytes(
  { clock, toleranceMs }: Judge,
  webhook: DecodedWebhook,
  { source, secrets, scheme }: CachedSource,
  certificate: string | null,
) {
  const { decoding } = webhook;
  const { signatureOver, toleranceSeconds } = source.settings;
  const now = clock.now();
  const former = secrets.former.filter((secret) => isLive(secret, now)).map(({ secret }) => secret);
  const limits = {
    secrets: [secrets.current, ...former],
    nowSeconds: Math.floor(now.getTime() / 1000),
    toleranceSeconds: toleranceSeconds ?? toleranceMs() / 1000,
    certificate,
  };
  const isOverWire = signatureOver !== "decoded";
  const signed = signedRequest(webhook, source);
  const verification:
    | { verified: true; timestampSeconds: number | null }
    | { verified: false; problem: string; timestampSeconds?: number | null } =
    !isOverWire && "problem" in decoding
      ? { verified: false, problem: undecodedAs[decoding.problem].reason }
      : scheme.verify(signed, limits);
  return { verification, limits, signed };
}

/** Returns the request as its sender signed it. */
function signedRequest({ method, url, headers, body, decoding }: DecodedWebhook, { settings }: Source) {
  const { signatureOver, publicUrl } = settings;
  const isOverWire = signatureOver !== "decoded" || !("body" in decoding);
  return { method, url: publicUrl ?? url, headers, body: isOverWire ? body : decoding.body };
}

/** Returns the identity by the scheme, or by the places that the source names instead. */
function identityOf(
  { settings }: Source,
  scheme: SignatureScheme,
  signed: SignedRequest,
  value: unknown,
): DeliveryIdentity {
  const { deliveryId, eventType } = scheme.identify(signed, value);
  const { deliveryIdFrom, eventTypeFrom } = settings;
  const claimed = (place: DeliveryIdPlace): Claim | null => claimAt(place, scheme, signed, value);
  return {
    deliveryId: deliveryIdFrom ? claimed(deliveryIdFrom) : deliveryId,
    eventType: eventTypeFrom ? claimed(eventTypeFrom) : eventType,
  };
}

/** PostgreSQL cannot store U+0000 in a text, and a lone surrogate is no text: both become U+FFFD. */
const storable = (claim: Claim): Claim => ({ ...claim, value: claim.value.toWellFormed().replaceAll("\0", "\ufffd") });
