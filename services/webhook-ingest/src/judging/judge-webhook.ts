import { createHash, hash } from "node:crypto";
import { newId } from "@signalbox/core";
import { isLive } from "@signalbox/storage";
import {
  answerChallenge,
  type Claim,
  claimAt,
  type DeliveryIdPlace,
  type HandshakeAnswer,
  type SignatureScheme,
  type SignedRequest,
  weightOfId,
} from "@signalbox/webhook-signatures";
import type { IngestService } from "../context/ingest-service.ts";
import type { ReceivedWebhook } from "../received/received-webhook.ts";
import { keptHeaders } from "../sources/request-headers.ts";
import { acceptsType, type Source } from "../sources/source.ts";
import { isOpen } from "../sources/source-access.ts";
import type { CachedSource } from "../sources/source-row.ts";
import type { CustomAnswer } from "../sources/source-settings.ts";
import { type DecodedWebhook, decodeBody, type PostedWebhook } from "./decode-body.ts";
import { fittingPayload, readPayload } from "./read-payload.ts";

export type Refused =
  | { readonly outcome: "unknown-source" }
  | {
      readonly outcome: "hidden" | "paused" | "blocked" | "not-verified" | "keys-away" | "too-large" | "too-many";
      readonly reason: string;
      /** The time as a request has it whose signature or time is not valid. */
      readonly signedSeconds?: number | null;
    };

export type Judgement =
  | { readonly outcome: "accepted"; readonly webhook: ReceivedWebhook }
  | { readonly outcome: "challenged"; readonly answer: HandshakeAnswer }
  | { readonly outcome: "dropped"; readonly answer: CustomAnswer | undefined }
  /** The source does not want the type: its sender is answered as for an accepted one, or it would give up the address. */
  | {
      readonly outcome: "filtered";
      readonly answer: CustomAnswer | undefined;
      readonly source: Source;
      readonly eventType: string | null;
    }
  | Refused;

export async function judgePosted(service: IngestService, webhook: PostedWebhook, known: CachedSource, at?: Date) {
  const bytesMax = service.configuration.get("limits.maxWebhookBytes");
  const decoding = await decodeBody(webhook.body, webhook.headers["content-encoding"], bytesMax);
  return judgeWebhook(service, { ...webhook, decoding }, known, at);
}

/** Judges a webhook. An unknown key makes the sender's keys be read again: senders change them without notice. */
export async function judgeWebhook(service: IngestService, webhook: DecodedWebhook, known: CachedSource, at?: Date) {
  const { jwksCache } = service;
  if (known.scheme.certificateAt) return judgeByCertificate(service, webhook, known, at);
  if (!known.scheme.keysAt) return judgeBySecrets(service, webhook, known, at);
  const judgeNow = async () => judgeBySecrets(service, webhook, await jwksCache.withKeys(known), at);
  const first = await judgeNow();
  if (!("reason" in first)) return first;
  if (first.reason === "key_unknown" && (await jwksCache.reread(known))) return judgeNow();
  const isAway = first.outcome === "not-verified" && first.reason === "secret_unusable";
  return isAway ? keysAway : first;
}

/** The webhook was not proved wrong: its sender should try again. */
const keysAway = { outcome: "keys-away", reason: "keys_unreachable" } as const;

/** Judges a webhook by the certificate that it names. It may confirm an address at a trusted host alone. */
async function judgeByCertificate(service: IngestService, webhook: DecodedWebhook, known: CachedSource, at?: Date) {
  const { certificateAt, isTrustedHost } = known.scheme;
  const url = certificateAt?.(signedRequest(webhook, known.source)) ?? null;
  const found = url === null ? null : await service.certificateCache.find(url);
  const certificate = found?.outcome === "found" ? found.certificate : null;
  const judgement = judgeBySecrets(service, webhook, known, at, certificate);
  if (found?.outcome === "away" && "reason" in judgement && judgement.outcome === "not-verified") return keysAway;
  const confirmUrl = judgement.outcome === "challenged" ? judgement.answer.confirmUrl : undefined;
  if (confirmUrl === undefined || isTrustedHost?.(confirmUrl)) return judgement;
  return { outcome: "not-verified", reason: "certificate_not_allowed" } as const;
}

/** Reasons why a signature over the decoded body does not verify. */
const undecodedAs = {
  coding: "coding_not_supported",
  size: "decoded_body_too_large",
  malformed: "body_malformed",
} as const;

/** Longest delivery id. A partner's id may be any text, but a longer one would not fit an index. */
const deliveryIdCharactersMax = 512;
const digestCharacters = 64;
const eventTypeCharactersMax = 256;
const contentTypeCharactersMax = 256;

/**
 * Judges a webhook in the order of CONTRACT §7: verify the raw bytes and their time, parse once, find the delivery id,
 * check the type. Before the signature is verified, a source that accepts nothing looks like an unknown one, so that
 * its id reveals nothing about the account.
 */
function judgeBySecrets(
  service: IngestService,
  webhook: DecodedWebhook,
  known: CachedSource,
  at = service.clock.now(),
  certificate: string | null = null,
): Judgement {
  const { source } = known;
  const isAccepting = isOpen(service, source);
  const verified = verifyBytes(service, webhook, known, at, certificate);
  const { verification } = verified;
  if (!verification.verified) {
    const { problem: reason, timestampSeconds: signedSeconds = null } = verification;
    return { outcome: isAccepting ? "not-verified" : "hidden", reason, signedSeconds };
  }
  if (source.status === "paused") return { outcome: "paused", reason: "paused" };
  if (!isAccepting) return { outcome: "blocked", reason: "blocked" };
  if (source.status === "stopped") return { outcome: "dropped", answer: source.settings.answer };
  return judgeContent(service, webhook, known, verified, at);
}

/** Judges a copy from the sender's own API: nobody signed it, and it may still be pushed in other bytes. */
export function judgeCopy(service: IngestService, webhook: PostedWebhook, known: CachedSource): Judgement {
  const decoded = { ...webhook, decoding: { body: webhook.body } };
  const verification = { verified: true, timestampSeconds: null } as const;
  const signed = signedRequest(decoded, known.source);
  const judgement = judgeContent(service, decoded, known, { verification, signed }, service.clock.now());
  if (judgement.outcome !== "accepted") return judgement;
  const { deliveryId, eventType } = judgement.webhook;
  return {
    outcome: "accepted",
    webhook: {
      ...judgement.webhook,
      deliveryId: { ...deliveryId, signed: false },
      eventType: eventType && { ...eventType, signed: false },
      isIdForgeable: false,
      isIdFinal: true,
      isCopy: true,
    },
  };
}

type Verification =
  | { readonly verified: true; readonly timestampSeconds: number | null }
  | { readonly verified: false; readonly problem: string; readonly timestampSeconds?: number | null };

interface SignedWebhook extends SignedRequest {
  readonly body: Buffer;
}

/** The proof of a webhook; without limits its time was not checked. */
interface Verified {
  readonly verification: Verification;
  readonly signed: SignedWebhook;
  readonly limits?: Parameters<SignatureScheme["verify"]>[1];
}

/** Computes a delivery id for a webhook without one, of which every post is one event: no other webhook has it. */
export const digestId = (id: string, body: Buffer): string =>
  createHash("sha256").update(`${id}.`).update(body).digest("hex");

function judgeContent(
  { configuration }: IngestService,
  { headers, decoding }: DecodedWebhook,
  { source, secrets, scheme }: CachedSource,
  { verification, limits, signed }: Verified,
  receivedAt: Date,
): Judgement {
  const { body: decoded } = decoding;
  if ("problem" in decoding && decoding.problem === "size") return { outcome: "too-large", reason: undecodedAs.size };
  const bytesMax = source.settings.maxBodyBytes;
  if (bytesMax !== undefined && decoded.length > bytesMax) return { outcome: "too-large", reason: "body_too_large" };

  const contentType = headers["content-type"] ?? null;
  const reading = readPayload(decoding, contentType, scheme);
  const time = (limits && scheme.verifyTime?.(reading.value, limits)) ?? verification;
  if (!time.verified)
    return { outcome: "not-verified", reason: time.problem, signedSeconds: time.timestampSeconds ?? null };
  const handshake = source.settings.handshake ?? scheme.handshake;
  const answer = handshake ? answerChallenge(handshake, reading.value, secrets.current) : null;
  if (answer !== null) return { outcome: "challenged", answer };

  const value = scheme.signedValue ? scheme.signedValue(reading.value) : reading.value;
  const { deliveryId, eventType } = identityOf(source, scheme, signed, value);
  const type = eventType?.value ?? null;
  if (!acceptsType(source, type))
    return { outcome: "filtered", answer: source.settings.answer, source, eventType: type };
  const id = newId("rcv", receivedAt.getTime());
  const storableId = deliveryId && storable(deliveryId);
  const { isIdForgeable, isIdFinal } = weightOfId(scheme, source.settings, deliveryId);
  return {
    outcome: "accepted",
    webhook: {
      id,
      source,
      // Nobody signed an id of ours, although it is made from what was signed.
      deliveryId: storableId ? shortened(storableId) : { value: digestId(id, signed.body), signed: false },
      isIdForgeable,
      // Ids that differ only in what cannot be stored are told apart by the content.
      isIdFinal: isIdFinal && storableId?.value === deliveryId?.value,
      isCopy: false,
      origin: "pushed",
      eventType: eventType && storable({ ...eventType, value: eventType.value.slice(0, eventTypeCharactersMax) }),
      contentType: contentType?.slice(0, contentTypeCharactersMax) ?? null,
      headers: keptHeaders(headers, scheme.proofHeaders),
      body: signed.body,
      signedText: scheme.signedText?.(signed) ?? null,
      payload: fittingPayload(reading.payload, decoded, configuration.get("events.message.max-bytes")),
      signedSeconds: time.timestampSeconds,
      arrivedAt: receivedAt,
      receivedAt,
    },
  };
}

/** Verifies the raw bytes or, where the source says so, the decoded ones; a body that cannot be decoded then fails. */
function verifyBytes(
  service: IngestService,
  webhook: DecodedWebhook,
  { source, secrets, scheme }: CachedSource,
  now: Date,
  certificate: string | null,
): Verified {
  const { decoding } = webhook;
  const former = secrets.former.filter((secret) => isLive(secret, now)).map(({ secret }) => secret);
  const limits = {
    secrets: [secrets.current, ...former],
    nowSeconds: Math.floor(now.getTime() / 1000),
    toleranceSeconds: toleranceSecondsOf(service, source),
    certificate,
  };
  const isOverWire = source.settings.signatureOver !== "decoded";
  const signed = signedRequest(webhook, source);
  const verification: Verification =
    !isOverWire && "problem" in decoding
      ? { verified: false, problem: undecodedAs[decoding.problem] }
      : scheme.verify(signed, limits);
  return { verification, limits, signed };
}

/** Returns the largest difference in seconds, both ways, between a time that the source's sender signs and ours. */
export const toleranceSecondsOf = ({ configuration }: IngestService, { settings }: Source): number =>
  settings.toleranceSeconds ?? configuration.get("webhook-ingest.tolerance") / 1_000;

function signedRequest({ method, url, headers, body, decoding }: DecodedWebhook, { settings }: Source): SignedWebhook {
  const { signatureOver, publicUrl } = settings;
  const isOverWire = signatureOver !== "decoded";
  return {
    method,
    url: publicUrl === undefined ? url : withQueryOf(url, publicUrl),
    headers,
    body: isOverWire ? body : decoding.body,
  };
}

/** Returns the public URL with the query of the request, unless it has one itself. */
function withQueryOf(url: string, publicUrl: string): string {
  const at = url.indexOf("?");
  return at < 0 || publicUrl.includes("?") ? publicUrl : `${publicUrl}${url.slice(at)}`;
}

/** Returns the identity by the scheme, or by the places that the source names instead. */
function identityOf({ settings }: Source, scheme: SignatureScheme, signed: SignedRequest, value: unknown) {
  const own = scheme.identify(signed, value);
  const at = (place: DeliveryIdPlace) => claimAt(place, scheme, signed, value);
  const types = settings.eventTypeFrom && [settings.eventTypeFrom].flat().map(at);
  return {
    deliveryId: settings.deliveryIdFrom ? at(settings.deliveryIdFrom) : own.deliveryId,
    eventType: types ? (types.find((claim) => claim !== null) ?? null) : own.eventType,
  };
}

/** Shortens a longer id to its beginning and a digest of the whole, so that it still names one webhook. */
function shortened(claim: Claim): Claim {
  const { value } = claim;
  if (value.length <= deliveryIdCharactersMax) return claim;
  const begin = value.slice(0, deliveryIdCharactersMax - digestCharacters - 1).toWellFormed();
  return { ...claim, value: `${begin}#${hash("sha256", value)}` };
}

/** PostgreSQL cannot store U+0000 in a text, and a lone surrogate is no text: both become U+FFFD. */
const storable = (claim: Claim): Claim => ({ ...claim, value: claim.value.toWellFormed().replaceAll("\0", "\ufffd") });
