import type { IncomingHttpHeaders } from "node:http";
import { draft, viewOf, WebhookRejectionResource } from "@signalbox/contracts";
import { guessScheme, type SchemeName, schemeDefaults } from "@signalbox/webhook-signatures";
import type { IngestService } from "../context/ingest-service.ts";
import type { PostedWebhook } from "../judging/decode-body.ts";
import { toleranceSecondsOf } from "../judging/judge-webhook.ts";
import { type Headers, observed } from "../sources/request-headers.ts";
import type { CachedSource } from "../sources/source-row.ts";

/** A refusal as its route knows it; `sourceId` may be any address of the source. */
export interface Refusal {
  readonly sourceId: string;
  /** A stable word, such as `signature_mismatch` or `timestamp_too_old`. */
  readonly reason: string;
  readonly status: number;
  readonly bodyBytes: number;
  readonly address: string;
}

/** A refused webhook: enough to find the mistake, and its content if the source keeps that. */
export interface Rejection extends Refusal {
  readonly id: string;
  readonly rejectedAt: Date;
  /** True when the whole webhook is kept and can be verified again. */
  readonly isKept: boolean;
  /** The received webhook that a retry created. */
  readonly receivedId: string | null;
  /** Null for a webhook that was refused before it was read. */
  readonly figures: RejectionFigures | null;
}

/** Figures of a refusal that show its cause without a secret or a signature. */
export interface RejectionFigures {
  /** The time that the sender signed, as the request has it; nothing proves it. */
  readonly signedAt: string | null;
  /** Seconds from then to the arrival; negative for a time in the future. */
  readonly ageSeconds: number | null;
  readonly toleranceSeconds: number | null;
  readonly expected: SchemeName | null;
  /** The scheme that the headers show; null for none. */
  readonly found: SchemeName | null;
  /** Names of headers that the scheme reads. */
  readonly headersSeen: readonly string[];
  readonly headersMissing: readonly string[];
}

/** A webhook as it came, with its signature. */
export interface RejectedWebhook {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Headers that prove the sender, besides those recognized by their names. */
  readonly proofHeaders?: readonly string[];
}

/** A rejection with the kept part of its webhook; null when its source kept nothing. */
export interface RejectionInFull extends Rejection {
  /** Signatures and credentials masked. */
  readonly headers: Headers | null;
  /** The whole body, or its first bytes. */
  readonly body: Buffer | null;
}

/** The figures of a webhook that was refused before it was read. */
const noFigures: RejectionFigures = {
  signedAt: null,
  ageSeconds: null,
  toleranceSeconds: null,
  expected: null,
  found: null,
  headersSeen: [],
  headersMissing: [],
};

/** What its owner sees of a rejection besides: its figures, and the URL that explains a webhook of the source. */
export interface ShownRejection extends RejectionFigures {
  readonly kept: boolean;
  readonly verifyUrl: string;
}

/** Returns the rejection as its owner sees it. */
export const shownRejection = <R extends Rejection>(rejection: R, verifyUrl: string): R & ShownRejection => ({
  ...noFigures,
  ...rejection.figures,
  ...rejection,
  kept: rejection.isKept,
  verifyUrl,
});

export const viewRejection = viewOf(WebhookRejectionResource, (_: Rejection & ShownRejection) => ({}));

/** Times that a date can show. */
const secondsMax = 8_640_000_000_000;

/** Finds the figures of a refused webhook. The body is not looked at, so that this costs nothing that counts. */
export function figuresOf(
  service: IngestService,
  { method, url, headers }: PostedWebhook,
  { source, secrets, scheme }: CachedSource,
  signedSeconds: number | null,
): RejectionFigures {
  const nowMs = service.clock.nowMs();
  const toleranceSeconds = toleranceSecondsOf(service, source);
  const read = new Set<string>();
  const request = { method, url, headers: observed(headers, read), body: Buffer.alloc(0) };
  scheme.verify(request, { secrets: [secrets.current], nowSeconds: Math.floor(nowMs / 1_000), toleranceSeconds });
  const optional = { ...schemeDefaults(source.scheme), ...source.settings }.previousSignatureHeader;
  const names = [...read].sort();
  const isSeen = (name: string) => headers[name] !== undefined && headers[name] !== "";
  const seen = names.filter(isSeen);
  const missing = names.filter((name) => !isSeen(name) && name !== optional);
  const isWhole = seen.length > 0 && missing.length === 0;
  return {
    ...timesOf(signedSeconds, nowMs),
    toleranceSeconds,
    expected: source.scheme,
    found: isWhole ? source.scheme : guessScheme(headers),
    headersSeen: seen,
    headersMissing: missing,
  };
}

function timesOf(signedSeconds: number | null, nowMs: number) {
  if (signedSeconds === null || signedSeconds > secondsMax) return { signedAt: null, ageSeconds: null };
  const signedAt = new Date(signedSeconds * 1_000).toISOString();
  return { signedAt, ageSeconds: Math.round(nowMs / 1_000 - signedSeconds) };
}

export function rejectedEvent(accountId: string, rejection: Rejection, verifyUrl: string) {
  const { received_id: _, ...shown } = viewRejection(shownRejection(rejection, verifyUrl));
  const { sourceId } = rejection;
  return draft("webhook.rejected", { subject: sourceId, accountId, data: { source_id: sourceId, ...shown } });
}
